import { coordinatesIn } from "./fields.js";

/** @import { Fields } from "./fields.js" */
/** @import { Grid } from "./grid.js" */

/** Blocks of pixels that one cell fills are found by their corners. */
const BLOCK = 32;
/** Places that are in no cell are not taken for the only thing in larger blocks. */
const SMALL = 4;
const UNKNOWN = -2;

/** The point in whose cell each pixel lies, on a plane without straight rows: found in slices. */
export class CellPixels {
  #map;
  #grid;
  #xs;
  #ys;
  /** @type {[left: number, top: number, right: number, bottom: number][]} */
  #blocks = [];

  /**
   * @param {Fields["map"]} map
   * @param {Grid} grid
   * @param {Float64Array} xs middles of the pixels, in pixels of the picture
   * @param {Float64Array} ys
   */
  constructor(map, grid, xs, ys) {
    this.#map = map;
    this.#grid = grid;
    this.#xs = xs;
    this.#ys = ys;
    this.points = new Int32Array(xs.length * ys.length).fill(UNKNOWN);
    for (let top = 0; top < ys.length; top += BLOCK) {
      for (let left = 0; left < xs.length; left += BLOCK) {
        const [right, bottom] = [left + BLOCK, top + BLOCK];
        const ends = [Math.min(right, xs.length) - 1, Math.min(bottom, ys.length) - 1];
        this.#blocks.push([left, top, ends[0], ends[1]]);
      }
    }
  }

  get isFound() {
    return this.#blocks.length === 0;
  }

  /**
   * Go on until a moment; a block whose corners lie in one cell is filled: cells have no hollows.
   * @param {number} until in milliseconds, as `performance.now()` counts
   */
  find(until) {
    const blocks = this.#blocks;
    for (let block = blocks.pop(); block; block = blocks.pop()) {
      this.#part(...block);
      if (performance.now() >= until) return;
    }
  }

  /**
   * @param {number} left
   * @param {number} top
   * @param {number} right
   * @param {number} bottom
   */
  #part(left, top, right, bottom) {
    const found = this.#at(left, top);
    // All of them are looked up: those of the smallest blocks are not met again.
    const others = [this.#at(right, top), this.#at(left, bottom), this.#at(right, bottom)];
    const isSame = others.every((one) => one === found);
    const isSmall = right - left < SMALL && bottom - top < SMALL;
    if (isSame && (found >= 0 || isSmall)) {
      for (let row = top; row <= bottom; row += 1) {
        this.points.fill(found, row * this.#xs.length + left, row * this.#xs.length + right + 1);
      }
    } else if (right - left > 1 || bottom - top > 1) {
      const [x, y] = [(left + right) >> 1, (top + bottom) >> 1];
      this.#blocks.push(
        [left, top, x, y],
        [x, top, right, y],
        [left, y, x, bottom],
        [x, y, right, bottom],
      );
    }
  }

  /**
   * @param {number} column
   * @param {number} row
   */
  #at(column, row) {
    const pixel = row * this.#xs.length + column;
    if (this.points[pixel] === UNKNOWN) {
      const place = coordinatesIn(this.#map, this.#xs[column], this.#ys[row]);
      this.points[pixel] = place ? this.#grid.seenAt(...place) : -1;
    }
    return this.points[pixel];
  }
}

/** @type {Map<string, WeakRef<CellPixels>>} those that sheets show are held by these */
const known = new Map();

/**
 * The same object for the same pixels of the same grid, with what is found of it, as long as
 * someone holds it: frames share their grid, and what is seen of it.
 * @param {Fields} fields
 * @param {number} number of the field
 * @param {Float64Array} xs
 * @param {Float64Array} ys
 */
export function cellPixelsOf(fields, number, xs, ys) {
  const { box, extent, fields: facts } = fields.header;
  const ends = [xs.length, xs[0], xs[xs.length - 1], ys.length, ys[0], ys[ys.length - 1]];
  const key = [facts[number].grid, ...box, ...extent, ...ends].join();
  const held = known.get(key)?.deref();
  if (held) return held;
  for (const [old, one] of known) if (!one.deref()) known.delete(old);
  const made = new CellPixels(fields.map, fields.grids[number], xs, ys);
  known.set(key, new WeakRef(made));
  return made;
}
