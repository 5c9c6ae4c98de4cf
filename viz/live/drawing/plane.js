import { cellPixelsOf } from "../values/cell_pixels.js";
import { PixelMap, paintPoints } from "../values/pixel_map.js";
import { coloursBetween, coloursOf, rampOf } from "./paint.js";

/** @import { Context } from "./draw_surroundings.js" */
/** @import { CellPixels } from "../values/cell_pixels.js" */
/** @import { Fields } from "../values/fields.js" */
/** @import { Grid } from "../values/grid.js" */
/** @import { Box } from "../types.d.ts" */

/** A picture's pixel on the canvas is enlarged where it is so small a part of one, or less. */
const LARGE = 0.7;

/** The plane of one picture as its values say: cells in their colours, and what lies over them. */
export class Plane {
  #of;
  /** @type {Uint32Array[] | null} */
  #colours = null;
  /** @type {[across: number, down: number][] | null} the cells of each field, in its pixels */
  #cells = null;

  /**
   * @param {Fields} fields
   * @param {(number: number) => Uint32Array} of the colour of each point of a field
   */
  constructor(fields, of) {
    this.fields = fields;
    this.#of = of;
  }

  /** The words over the field; without them files of older versions have all in their overlay. */
  get words() {
    return this.fields.header.words ?? [];
  }

  /** Of each field the colour of each point. */
  get colours() {
    this.#colours ??= this.fields.header.fields.map((_, number) => this.#of(number));
    return this.#colours;
  }

  get isReady() {
    return this.fields.overlay !== null;
  }

  /**
   * Whether the picture shows more than the values do: they are thinned or sampled, it blends
   * neighbours, or cells of one of its fields are smaller than pixels and it has their means. Of
   * pictures of older versions that is not known.
   * @param {Box} box of the whole picture on the canvas
   */
  isCoarser(box) {
    const { size, fields, smooth, resampled, words } = this.fields.header;
    if (smooth || resampled || !words) return true;
    this.#cells ??= fields.map((_, number) => cellOf(this.fields, number));
    return this.#cells.some(([across, down], number) => {
      const cell = Math.min((across * box.width) / size[0], (down * box.height) / size[1]);
      return cell < 1 || (fields[number].stride > 1 && Math.max(across, down) > 1);
    });
  }

  /**
   * Paint what is seen of it, each pixel in the colour of its own cell; returns null, and paints
   * nothing, where the picture shows more. Of cells without straight rows the true edges are seen
   * once they are found: returned are those of each such field, for the caller to hold and find.
   * @param {Context} context
   * @param {Box} box of the whole picture on the canvas
   * @param {Box} part whole pixels of the canvas
   * @returns {CellPixels[] | null}
   */
  paint(context, box, part) {
    if (!this.isReady || part.width < 1 || part.height < 1 || this.isCoarser(box)) return null;
    const { header, overlay } = this.fields;
    const image = new ImageData(part.width, part.height);
    const pixels = new Uint32Array(image.data.buffer);
    pixels.fill(rampOf(header.colours, null).ground);
    const [xs, ys] = this.#middles(box, part);
    /** @type {CellPixels[]} */
    const edges = [];
    const isLarge = header.size[0] / box.width < LARGE;
    this.colours.forEach((colours, number) => {
      const isBent = isLarge && this.fields.grids[number].facts.kind === "pixels";
      const cells = isBent ? cellPixelsOf(this.fields, number, xs, ys) : null;
      if (cells) edges.push(cells);
      if (cells?.isFound) paintPoints(pixels, cells.points, colours);
      else new PixelMap(this.fields, number, xs, ys).paint(pixels, colours);
    });
    context.putImageData(image, part.left, part.top);
    Object.assign(context, { imageSmoothingEnabled: true, imageSmoothingQuality: "high" });
    const [across, down] = [header.size[0] / box.width, header.size[1] / box.height];
    for (const { image: over, box: at } of overlay ?? []) {
      const [left, top] = [box.left + at[0] / across, box.top + at[1] / down];
      const there = { left, top, width: at[2] / across, height: at[3] / down };
      drawPart(context, over, there, part);
    }
    return edges;
  }

  /**
   * The middles of the pixels of a part of the canvas, in pixels of the picture.
   * @param {Box} box
   * @param {Box} part
   */
  #middles(box, part) {
    const { size } = this.fields.header;
    return [
      middles(part.left - box.left, part.width, size[0] / box.width),
      middles(part.top - box.top, part.height, size[1] / box.height),
    ];
  }
}

/** @type {WeakMap<Fields, Plane>} */
const planes = new WeakMap();

/**
 * The plane of a picture in its own colours; the same object for the same values.
 * @param {Fields} fields
 */
export function planeOf(fields) {
  const known = planes.get(fields);
  if (known) return known;
  const { colours } = fields.header;
  const { edges, limits, log } = colours;
  const ramp = rampOf(colours, null);
  const plane = new Plane(fields, (number) =>
    fields.each(number, (values) =>
      edges.length ? coloursBetween(values, ramp, edges) : coloursOf(values, ramp, limits, log),
    ),
  );
  planes.set(fields, plane);
  return plane;
}

/**
 * The whole pixels of a canvas inside the plane's border.
 * @param {Box} plane
 * @returns {Box}
 */
export function insideOf(plane) {
  const [left, top] = [Math.ceil(plane.left + 1), Math.ceil(plane.top + 1)];
  const width = Math.floor(plane.left + plane.width - 1) - left;
  const height = Math.floor(plane.top + plane.height - 1) - top;
  return { left, top, width, height };
}

/**
 * Draw what of an image lies in a part of the canvas. Only its own pixels are read: to clip all of
 * it at edges between pixels takes more time than to draw it.
 * @param {Context} context
 * @param {ImageBitmap | OffscreenCanvas} image
 * @param {Box} box of the whole image on the canvas
 * @param {Box} part
 */
export function drawPart(context, image, box, part) {
  const { left, top, width, height } = part;
  if (width < 1 || height < 1) return;
  const [across, down] = [image.width / box.width, image.height / box.height];
  const from = [(left - box.left) * across, (top - box.top) * down, width * across, height * down];
  context.drawImage(image, from[0], from[1], from[2], from[3], left, top, width, height);
}

/**
 * The middles of pixels of the canvas, in pixels of the picture.
 * @param {number} first
 * @param {number} count
 * @param {number} step
 */
function middles(first, count, step) {
  return Float64Array.from({ length: count }, (_, at) => (first + at + 0.5) * step);
}

/**
 * How large the cells of a field are in pixels of the picture; of a plane without straight rows
 * the root of the mean area of those that are shown.
 * @param {Fields} fields
 * @param {number} number
 * @returns {[across: number, down: number]}
 */
function cellOf(fields, number) {
  const grid = fields.grids[number];
  if (!grid.pixels) {
    const { x, y } = grid.facts;
    const [first, last] = [0, 1].map((end) =>
      fields.pixel(x.edges?.[end] ?? NaN, y.edges?.[end] ?? NaN),
    );
    return [Math.abs(last[0] - first[0]) / x.n, Math.abs(last[1] - first[1]) / y.n];
  }
  const [left, top, right, bottom] = fields.header.box;
  const part = parts.get(grid) ?? partOf(grid, grid.pixels);
  parts.set(grid, part);
  const side = Math.sqrt(part * (right - left) * (bottom - top));
  return [side, side];
}

/** @type {WeakMap<Grid, number>} */
const parts = new WeakMap();

/**
 * The mean part of the map that one of the cells takes that are shown: all its pixels are read.
 * @param {Grid} grid
 * @param {Uint16Array[]} pixels
 */
function partOf({ facts }, pixels) {
  const { width = 1, height = 1, x, y } = facts;
  let [count, low, high, first, last] = [0, Infinity, -Infinity, Infinity, -Infinity];
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const [row, column] = [pixels[0][pixel], pixels[1][pixel]];
    if (column >= x.n || row >= y.n) continue; // no point
    count += 1;
    [low, high] = [Math.min(low, row), Math.max(high, row)];
    [first, last] = [Math.min(first, column), Math.max(last, column)];
  }
  return count / (width * height) / ((high - low + 1) * (last - first + 1));
}
