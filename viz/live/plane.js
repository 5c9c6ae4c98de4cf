import { coloursBetween, coloursOf, PixelMap, rampOf } from "./paint.js";

/** @import { Context } from "./draw_surroundings.js" */
/** @import { Fields } from "./fields.js" */
/** @import { Grid } from "./grid.js" */
/** @import { Box } from "./types.d.ts" */

/** Blocks of pixels that one cell fills are found by their corners. */
const BLOCK = 32;
/** Places that are in no cell are not taken for the only thing in larger blocks. */
const SMALL = 4;

/** The plane of one picture as its values say: cells in their colours, and what lies over them. */
export class Plane {
  #of;
  /** @type {Uint32Array[] | null} */
  #colours = null;

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
   * Whether the picture shows more than the values do: they are thinned, it blends neighbours, or
   * its cells are smaller than pixels and it has their means.
   * @param {Box} box of the whole picture on the canvas
   */
  isCoarser(box) {
    const { box: map, size, fields, smooth } = this.fields.header;
    const [{ nx, ny, stride }] = fields;
    const [across, down] = [(map[2] - map[0]) / nx, (map[3] - map[1]) / ny];
    const cell = Math.min((across * box.width) / size[0], (down * box.height) / size[1]);
    return Boolean(smooth) || (stride > 1 && Math.max(across, down) > 1) || cell < 1;
  }

  /**
   * Paint what is seen of it, each pixel in the colour of its own cell; returns false, and paints
   * nothing, where the picture shows more.
   * @param {Context} context
   * @param {Box} box of the whole picture on the canvas
   * @param {Box} part whole pixels of the canvas
   * @param {boolean} isFine whether cells without straight rows get their true edges, which takes
   *   some time
   */
  paint(context, box, part, isFine) {
    if (!this.isReady || part.width < 1 || part.height < 1 || this.isCoarser(box)) return false;
    const { header, grids, overlay } = this.fields;
    const image = new ImageData(part.width, part.height);
    const pixels = new Uint32Array(image.data.buffer);
    pixels.fill(rampOf(header.colours, null).ground);
    const [across, down] = [header.size[0] / box.width, header.size[1] / box.height];
    const xs = middles(part.left - box.left, part.width, across);
    const ys = middles(part.top - box.top, part.height, down);
    grids.forEach((grid, number) => {
      const isBent = grid.facts.kind === "pixels";
      const map = new PixelMap(this.fields, number, xs, ys);
      const points =
        isBent && isFine && across < 0.7 ? cellsAt(this.fields, grid, xs, ys) : map.points;
      const colours = this.colours[number];
      for (let pixel = 0; pixel < pixels.length; pixel += 1) {
        if (points[pixel] >= 0) pixels[pixel] = colours[points[pixel]];
      }
    });
    context.putImageData(image, part.left, part.top);
    Object.assign(context, { imageSmoothingEnabled: true, imageSmoothingQuality: "high" });
    for (const { image: over, box: at } of overlay ?? []) {
      const [left, top] = [box.left + at[0] / across, box.top + at[1] / down];
      const there = { left, top, width: at[2] / across, height: at[3] / down };
      drawPart(context, over, there, part);
    }
    return true;
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
 * The point in whose cell each pixel lies, on a plane without straight rows. A block whose corners
 * lie in one cell is filled: cells have no hollows.
 * @param {Fields} fields
 * @param {Grid} grid
 * @param {Float64Array} xs
 * @param {Float64Array} ys
 */
function cellsAt(fields, grid, xs, ys) {
  const width = xs.length;
  const unknown = -2;
  const points = new Int32Array(width * ys.length).fill(unknown);
  /**
   * @param {number} column
   * @param {number} row
   */
  const at = (column, row) => {
    const pixel = row * width + column;
    if (points[pixel] === unknown) {
      const place = fields.coordinates(xs[column], ys[row]);
      points[pixel] = place ? grid.pointAt(...place) : -1;
    }
    return points[pixel];
  };
  /** @type {[left: number, top: number, right: number, bottom: number][]} */
  const blocks = [];
  for (let top = 0; top < ys.length; top += BLOCK) {
    for (let left = 0; left < width; left += BLOCK) {
      const [right, bottom] = [left + BLOCK, top + BLOCK];
      blocks.push([left, top, Math.min(right, width) - 1, Math.min(bottom, ys.length) - 1]);
    }
  }
  for (let block = blocks.pop(); block; block = blocks.pop()) {
    const [left, top, right, bottom] = block;
    const found = at(left, top);
    const isSame =
      at(right, top) === found && at(left, bottom) === found && at(right, bottom) === found;
    const isSmall = right - left < SMALL && bottom - top < SMALL;
    if (isSame && (found >= 0 || isSmall)) {
      for (let row = top; row <= bottom; row += 1) {
        points.fill(found, row * width + left, row * width + right + 1);
      }
    } else if (right - left > 1 || bottom - top > 1) {
      const [x, y] = [(left + right) >> 1, (top + bottom) >> 1];
      blocks.push(
        [left, top, x, y],
        [x, top, right, y],
        [left, y, x, bottom],
        [x, y, right, bottom],
      );
    }
  }
  return points;
}
