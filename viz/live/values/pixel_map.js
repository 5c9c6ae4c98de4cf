/** @import { Fields } from "./fields.js" */

/** Where each of some pixels of a map has its point. */
export class PixelMap {
  /** @type {Int32Array | null} */
  #points = null;
  #grid;
  #columns;
  #rows;

  /**
   * @param {Fields} fields
   * @param {number} number
   * @param {ArrayLike<number>} xs their middles, in pixels of the picture
   * @param {ArrayLike<number>} ys
   */
  constructor(fields, number, xs, ys) {
    this.width = xs.length;
    this.height = ys.length;
    const [left, top] = fields.header.box;
    const grid = fields.grids[number];
    this.#grid = grid;
    const x = Float64Array.from(xs, (at) => fields.coordinates(at, top + 0.5)?.[0] ?? NaN);
    const y = Float64Array.from(ys, (at) => fields.coordinates(left + 0.5, at)?.[1] ?? NaN);
    this.#columns = x;
    this.#rows = y;
    if (grid.facts.kind !== "axes") return;
    // A plane of straight rows is looked up along its edges alone.
    const middle = [grid.of(0)?.[0] ?? NaN, grid.of(0)?.[1] ?? NaN];
    const { n } = grid.facts.x;
    for (const [at, one] of x.entries()) {
      const point = grid.pointAt(one, middle[1]);
      x[at] = point < 0 ? -1 : point % n;
    }
    for (const [at, one] of y.entries()) {
      const point = grid.pointAt(middle[0], one);
      y[at] = point < 0 ? -1 : Math.floor(point / n) * n;
    }
  }

  get points() {
    this.#points ??= this.#newPoints();
    return this.#points;
  }

  #newPoints() {
    const points = new Int32Array(this.width * this.height).fill(-1);
    const isBent = this.#grid.facts.kind !== "axes";
    this.#rows.forEach((row, down) => {
      const first = down * this.width;
      this.#columns.forEach((column, across) => {
        if (isBent) points[first + across] = this.#grid.shownAt(column, row);
        else if (row >= 0 && column >= 0) points[first + across] = row + column;
      });
    });
    return points;
  }

  /**
   * Colour the pixels that have a point.
   * @param {Uint32Array} pixels
   * @param {Uint32Array} colours of the points
   */
  paint(pixels, colours) {
    if (this.#grid.facts.kind !== "axes") return paintPoints(pixels, this.points, colours);
    const { width } = this;
    const first = this.#columns.findIndex((column) => column >= 0);
    const end = this.#columns.findLastIndex((column) => column >= 0) + 1;
    const columns = Int32Array.from(this.#columns);
    for (let down = 0; first >= 0 && down < this.height; down += 1) {
      const [row, from] = [this.#rows[down], down * width];
      if (row < 0) continue;
      if (down && row === this.#rows[down - 1]) {
        pixels.copyWithin(from + first, from - width + first, from - width + end);
        continue;
      }
      for (let across = first; across < end; across += 1) {
        pixels[from + across] = colours[row + columns[across]];
      }
    }
  }
}

/**
 * Colour the pixels that have a point.
 * @param {Uint32Array} pixels
 * @param {Int32Array} points of the pixels, -1 for none
 * @param {Uint32Array} colours of the points
 */
export function paintPoints(pixels, points, colours) {
  for (let pixel = 0; pixel < pixels.length; pixel += 1) {
    if (points[pixel] >= 0) pixels[pixel] = colours[points[pixel]];
  }
}
