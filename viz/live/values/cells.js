import { decodeFields, fromBase64 } from "../sources/values_file.js";

/** @import { CellsFacts } from "../types.d.ts" */

const TURN = 2 * Math.PI;
const TILES = 20000;
const LEAST_SIDE = 8;
const MOSTLY = 0.9;
/** Cells whose sides are kept, some 300 bytes each. */
const HELD = 20000;
const AROUND = [-1, 0, 1].flatMap((r) => [-1, 0, 1].map((c) => [r, c]));

/** The cells of a curvilinear grid on the sphere: which of them contains a place (sphere_cells.py). */
export class Cells {
  #rows;
  #columns;
  #ends;
  #unit;
  /** @type {Int32Array[]} longitudes and latitudes, in parts of a turn */
  #at;
  #side;
  #across;
  #closed;
  /** @type {{ middles: Float64Array, reach: Float64Array } | null} */
  #tiles = null;
  /** @type {Map<number, { middle: number[], sides: number[][] }>} */
  #planes = new Map();

  /**
   * @param {CellsFacts} facts
   * @param {Int32Array[]} at
   * @param {number} rows
   * @param {number} columns
   */
  constructor({ ends, turn_bits }, at, rows, columns) {
    this.#ends = ends;
    this.#unit = TURN / 2 ** turn_bits;
    this.#at = at;
    this.#rows = rows;
    this.#columns = columns;
    this.#side = Math.max(LEAST_SIDE, Math.ceil(Math.sqrt((rows * columns) / TILES)));
    this.#across = Math.ceil(columns / this.#side);
    this.#closed = this.#isClosed();
  }

  /**
   * @param {CellsFacts} facts
   * @param {number} rows
   * @param {number} columns
   */
  static async read(facts, rows, columns) {
    const size = { nx: columns, ny: rows };
    const parts = await decodeFields(
      fromBase64(facts.stream),
      [size, size, size, size],
      facts.block,
    );
    const rest = 32 - facts.turn_bits;
    const at = [0, 2].map((which) =>
      Int32Array.from(
        parts[which],
        (low, point) => (((parts[which + 1][point] << 16) | low) << rest) >> rest,
      ),
    );
    return new Cells(facts, at, rows, columns);
  }

  /**
   * Longitude and latitude of a point, in degrees; null where it has none.
   * @param {number} point
   */
  place(point) {
    if (!this.#isSomewhere(point)) return null;
    const [lon, lat] = this.#at.map((parts) => (parts[point] * this.#unit * 360) / TURN);
    return { lat, lon };
  }

  /**
   * The number of the cell that contains a place, -1 where none does. `guess` is that of a cell
   * near it, or -1.
   * @param {number} lon
   * @param {number} lat
   * @param {number} guess
   */
  find(lon, lat, guess) {
    const place = vector((lon * TURN) / 360, (lat * TURN) / 360);
    if (guess >= 0) {
      const near = this.#containing(place, guess);
      if (near >= 0) return near;
    }
    const nearest = this.#nearest(place);
    if (nearest < 0) return -1;
    const found = this.#containing(place, nearest);
    if (found >= 0) return found;
    // Between cells that do not quite meet, as at a fold.
    const corners = this.#corners(Math.floor(nearest / this.#columns), nearest % this.#columns);
    const point = this.#vector(nearest);
    const far = Math.max(...corners.map((corner) => angle(point, corner)));
    return angle(point, place) <= far ? nearest : -1;
  }

  /**
   * The cell that contains a place among those around some cells, -1 where none of them does.
   * @param {number} lon
   * @param {number} lat
   * @param {number[]} guesses
   */
  findAround(lon, lat, guesses) {
    const place = vector((lon * TURN) / 360, (lat * TURN) / 360);
    for (const guess of guesses) {
      const found = this.#containing(place, guess);
      if (found >= 0) return found;
    }
    return -1;
  }

  /**
   * @param {number[]} place
   * @param {number} point
   */
  #containing(place, point) {
    const [row, column] = [Math.floor(point / this.#columns), point % this.#columns];
    if (this.#holds(row, column, place)) return point;
    for (const [down, right] of AROUND) {
      const r = row + down;
      const c = this.#closed ? (column + right + this.#columns) % this.#columns : column + right;
      if (r < 0 || r >= this.#rows || c < 0 || c >= this.#columns) continue;
      if (this.#holds(r, c, place)) return r * this.#columns + c;
    }
    return -1;
  }

  /**
   * @param {number} row
   * @param {number} column
   * @param {number[]} place
   */
  #holds(row, column, place) {
    const { middle, sides } = this.#planesOf(row, column);
    return dot(middle, place) > 0 && sides.every((side) => dot(side, place) >= -1e-15);
  }

  /**
   * The planes through the sides of a cell, and its middle: to paint a picture the same cells are
   * asked many times.
   * @param {number} row
   * @param {number} column
   */
  #planesOf(row, column) {
    const key = row * this.#columns + column;
    const known = this.#planes.get(key);
    if (known) return known;
    const corners = this.#corners(row, column);
    const [a, b, c, d] = corners;
    const middle = [0, 1, 2].map((part) => a[part] + b[part] + c[part] + d[part]);
    const turn = Math.sign(dot(cross(minus(c, a), minus(d, b)), middle));
    const sides = corners.map((start, at) =>
      cross(start, corners[(at + 1) % 4]).map((part) => turn * part),
    );
    if (this.#planes.size >= HELD) this.#planes.clear();
    const planes = { middle, sides };
    this.#planes.set(key, planes);
    return planes;
  }

  /**
   * @param {number} row
   * @param {number} column
   */
  #corners(row, column) {
    return [
      this.#corner(row, column),
      this.#corner(row, column + 1),
      this.#corner(row + 1, column + 1),
      this.#corner(row + 1, column),
    ];
  }

  /**
   * The corner before a row and a column.
   * @param {number} row
   * @param {number} column
   */
  #corner(row, column) {
    const [low, part] = edge(row, this.#rows, this.#ends[0]);
    const last = this.#columns - 1;
    let [left, share] = edge(column, this.#columns, this.#ends[1]);
    let right = left + 1;
    if (this.#closed && column % this.#columns === 0) {
      const [before, after] = this.#ends[1];
      [left, right, share] = [last, 0, after / (after + before)];
    }
    const row0 = low * this.#columns;
    const row1 = row0 + this.#columns;
    const upper = mixed(this.#vector(row0 + left), this.#vector(row0 + right), share);
    const lower = mixed(this.#vector(row1 + left), this.#vector(row1 + right), share);
    return unit(mixed(upper, lower, part));
  }

  /** @param {number} point */
  #vector(point) {
    if (!this.#isSomewhere(point)) return [NaN, NaN, NaN];
    return vector(this.#at[0][point] * this.#unit, this.#at[1][point] * this.#unit);
  }

  /** @param {number[]} place */
  #nearest(place) {
    this.#tiles ??= this.#makeTiles();
    const { middles, reach } = this.#tiles;
    const away = new Float64Array(reach.length);
    let least = Infinity;
    for (let tile = 0; tile < away.length; tile += 1) {
      away[tile] = arc(dot(place, middles, 3 * tile));
      if (reach[tile] >= 0) least = Math.min(least, away[tile] + reach[tile]);
    }
    let [best, found] = [-2, -1];
    for (let tile = 0; tile < away.length; tile += 1) {
      if (!(away[tile] - reach[tile] <= least)) continue;
      this.#each(tile, (point) => {
        const near = this.#isUsable(point) ? dot(place, this.#vector(point)) : -2;
        if (near > best) [best, found] = [near, point];
      });
    }
    return found;
  }

  /**
   * Points without a place have a latitude of half a turn.
   * @param {number} point
   */
  #isSomewhere(point) {
    return Math.abs(this.#at[1][point]) * this.#unit < TURN / 2;
  }

  /**
   * Points of gaps have no place, or repeat that of their neighbours.
   * @param {number} point
   */
  #isUsable(point) {
    if (!this.#isSomewhere(point)) return false;
    const [lon, lat] = this.#at;
    const same = (/** @type {number} */ other) =>
      lon[other] === lon[point] && lat[other] === lat[point];
    const [row, column] = [Math.floor(point / this.#columns), point % this.#columns];
    const above = row > 0 ? point - this.#columns : point;
    const below = row < this.#rows - 1 ? point + this.#columns : point;
    const left = column > 0 ? point - 1 : point;
    const right = column < this.#columns - 1 ? point + 1 : point;
    return !(same(above) && same(below)) && !(same(left) && same(right));
  }

  /**
   * @param {number} tile
   * @param {(point: number) => void} call
   */
  #each(tile, call) {
    const top = Math.floor(tile / this.#across) * this.#side;
    const first = (tile % this.#across) * this.#side;
    for (let row = top; row < Math.min(top + this.#side, this.#rows); row += 1) {
      for (let column = first; column < Math.min(first + this.#side, this.#columns); column += 1) {
        call(row * this.#columns + column);
      }
    }
  }

  /** The middle of each tile of points, and how far its points lie from it; NaN where it has none. */
  #makeTiles() {
    const count = this.#across * Math.ceil(this.#rows / this.#side);
    const [middles, reach] = [new Float64Array(3 * count), new Float64Array(count).fill(NaN)];
    for (let tile = 0; tile < count; tile += 1) {
      /** @type {number[][]} */
      const points = [];
      this.#each(tile, (point) => {
        if (this.#isUsable(point)) points.push(this.#vector(point));
      });
      if (!points.length) continue;
      const sum = points.reduce((total, one) => total.map((part, axis) => part + one[axis]));
      const middle = Math.hypot(...sum) > 1e-9 ? unit(sum) : [0, 0, 0];
      middles.set(middle, 3 * tile);
      reach[tile] = Math.max(...points.map((one) => arc(dot(one, middle))));
    }
    return { middles, reach };
  }

  /** Whether the last column is followed by the first, once around the earth. */
  #isClosed() {
    if (this.#columns <= 3) return false;
    const gap = this.#ends[1][0] + this.#ends[1][1];
    let [closed, known] = [0, 0];
    for (let row = 0; row < this.#rows; row += 1) {
      const from = row * this.#columns;
      const [first, second, before, last] = [0, 1, this.#columns - 2, this.#columns - 1].map((at) =>
        this.#vector(from + at),
      );
      const [step, closing, begin] = [
        minus(last, before),
        minus(first, last),
        minus(second, first),
      ];
      const [size, one, other] = [closing, step, begin].map((way) => Math.hypot(...way));
      if (!(size > 0)) continue;
      known += 1;
      const near = size < 1.5 * gap * one || size < 1.5 * gap * other;
      if (near && dot(step, closing) > 0) closed += 1;
    }
    return known > 0 && closed / known > MOSTLY;
  }
}

/**
 * The point before an edge of cells, and how far on the edge lies, in steps of the grid.
 * @param {number} number
 * @param {number} size
 * @param {number[]} ends
 * @returns {[low: number, part: number]}
 */
function edge(number, size, [before, after]) {
  const at = number === 0 ? -before : number === size ? size - 1 + after : number - 0.5;
  const low = Math.min(size - 2, Math.max(0, Math.floor(at)));
  return [low, at - low];
}

/**
 * @param {number} lon in radians
 * @param {number} lat
 */
function vector(lon, lat) {
  const across = Math.cos(lat);
  return [across * Math.cos(lon), across * Math.sin(lon), Math.sin(lat)];
}

/**
 * @param {number[]} a
 * @param {ArrayLike<number>} b
 * @param {number} from where b begins
 */
function dot(a, b, from = 0) {
  return a[0] * b[from] + a[1] * b[from + 1] + a[2] * b[from + 2];
}

/**
 * @param {number[]} a
 * @param {number[]} b
 */
function cross(a, b) {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

/**
 * @param {number[]} a
 * @param {number[]} b
 */
function minus(a, b) {
  return a.map((part, axis) => part - b[axis]);
}

/**
 * @param {number[]} a
 * @param {number[]} b
 * @param {number} share of b
 */
function mixed(a, b, share) {
  return a.map((part, axis) => part * (1 - share) + b[axis] * share);
}

/** @param {number[]} a */
function unit(a) {
  const size = Math.hypot(...a);
  return a.map((part) => part / size);
}

/**
 * @param {number[]} a
 * @param {number[]} b
 */
function angle(a, b) {
  return Math.atan2(Math.hypot(...cross(a, b)), dot(a, b));
}

/** @param {number} cosine */
function arc(cosine) {
  return Math.acos(Math.min(1, Math.max(-1, cosine)));
}
