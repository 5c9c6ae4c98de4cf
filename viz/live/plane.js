import { cellPixelsOf } from "./cell_pixels.js";
import { coloursBetween, coloursOf, PixelMap, paintPoints, rampOf } from "./paint.js";

/** @import { Context } from "./draw_surroundings.js" */
/** @import { Fields } from "./fields.js" */
/** @import { Box } from "./types.d.ts" */

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
   * Whether each cell has its true edges when this part is painted; those of cells without
   * straight rows are found first, until a moment, which takes some time.
   * @param {Box} box of the whole picture on the canvas
   * @param {Box} part whole pixels of the canvas
   * @param {number} [until] in milliseconds, as `performance.now()` counts
   */
  isSharp(box, part, until = 0) {
    const bent = this.#bent(box);
    const [xs, ys] = this.#middles(box, part);
    return bent.every((number) => {
      const cells = cellPixelsOf(this.fields, number, xs, ys);
      if (until) cells.find(until);
      return cells.isFound;
    });
  }

  /**
   * Paint what is seen of it, each pixel in the colour of its own cell; returns false, and paints
   * nothing, where the picture shows more.
   * @param {Context} context
   * @param {Box} box of the whole picture on the canvas
   * @param {Box} part whole pixels of the canvas
   */
  paint(context, box, part) {
    if (!this.isReady || part.width < 1 || part.height < 1 || this.isCoarser(box)) return false;
    const { header, overlay } = this.fields;
    const image = new ImageData(part.width, part.height);
    const pixels = new Uint32Array(image.data.buffer);
    pixels.fill(rampOf(header.colours, null).ground);
    const [xs, ys] = this.#middles(box, part);
    const bent = this.#bent(box);
    this.colours.forEach((colours, number) => {
      const cells = bent.includes(number) ? cellPixelsOf(this.fields, number, xs, ys) : null;
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
    return true;
  }

  /**
   * The fields without straight rows whose pixels the picture has are enlarged.
   * @param {Box} box
   */
  #bent(box) {
    const { grids, header } = this.fields;
    const isLarge = header.size[0] / box.width < LARGE;
    const numbers = grids.map(({ facts }, number) => (facts.kind === "pixels" ? number : -1));
    return isLarge ? numbers.filter((number) => number >= 0) : [];
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
  const { facts, pixels } = fields.grids[number];
  if (!pixels) {
    const { x, y } = facts;
    const [first, last] = [0, 1].map((end) =>
      fields.pixel(x.edges?.[end] ?? NaN, y.edges?.[end] ?? NaN),
    );
    return [Math.abs(last[0] - first[0]) / x.n, Math.abs(last[1] - first[1]) / y.n];
  }
  const { width = 1, height = 1, x } = facts;
  const [left, top, right, bottom] = fields.header.box;
  let [count, low, high, first, last] = [0, Infinity, -Infinity, Infinity, -Infinity];
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const [row, column] = [pixels[0][pixel], pixels[1][pixel]];
    if (column >= x.n || row >= facts.y.n) continue; // no point
    count += 1;
    [low, high] = [Math.min(low, row), Math.max(high, row)];
    [first, last] = [Math.min(first, column), Math.max(last, column)];
  }
  const area = (count / (width * height)) * (right - left) * (bottom - top);
  const side = Math.sqrt(area / ((high - low + 1) * (last - first + 1)));
  return [side, side];
}
