import { decodeFields } from "../sources/values_file.js";
import { Cells } from "./cells.js";
import { planeOf } from "./place.js";

/** @import { GridAxis, GridFacts, Place } from "../types.d.ts" */

const DEGREE = Math.PI / 180;
const NO_POINT = 0xffff;
const STEPS = 12;
const ROUNDING = 1e-6;

/** Where the points of values lie: the point at a place, the place of a point (lookup.py). */
export class Grid {
  #x;
  #y;
  #plane;
  /** @type {Uint16Array[] | null} */
  #pixels = null;
  /** @type {Int32Array | null} */
  #pixelOf = null;
  /** @type {Cells | null} */
  #cells = null;
  /** @type {Float64Array | null} unit vectors of the mesh's nodes, three numbers each */
  #nodes = null;
  /** @type {Float64Array | null} those of the middles of its cells; of nodes two may be one place */
  #middles = null;

  /** @param {GridFacts} facts */
  constructor(facts) {
    this.facts = facts;
    this.#plane = planeOf(facts);
    this.#x = pointsOf(facts.x);
    this.#y = pointsOf(facts.y);
    const { mesh } = facts;
    if (mesh) {
      this.#nodes = new Float64Array(3 * mesh.n ** 2);
      mesh.lon.forEach((lon, at) => {
        this.#nodes?.set(vector(lon ?? NaN, mesh.lat[at] ?? NaN), 3 * at);
      });
    }
  }

  /**
   * The grid that a grid file describes; rejects where it is not one.
   * @param {any} facts
   */
  static async read(facts) {
    if (facts?.format !== 1) throw new Error("the grid was written by another version");
    const grid = new Grid(facts);
    if (facts.kind === "pixels") {
      const stream = Uint8Array.from(atob(facts.stream), (sign) => sign.charCodeAt(0));
      const size = { nx: facts.width, ny: facts.height };
      grid.#pixels = await decodeFields(stream, [size, size], facts.block);
      delete facts.stream; // the pixels hold what it says
      if (facts.cells) grid.#cells = await Cells.read(facts.cells, facts.y.n, facts.x.n);
      delete facts.cells;
    }
    return grid;
  }

  /** Whether places are longitude and latitude. */
  get onEarth() {
    return Boolean(this.facts.geographic) || this.#nodes !== null || this.#cells !== null;
  }

  get isSection() {
    return this.facts.x.name === "distance";
  }

  /**
   * Row and column of the point that lies at x and y of the plane, as one number; -1 outside.
   * @param {number} x
   * @param {number} y
   * @returns {number}
   */
  pointAt(x, y) {
    const { facts } = this;
    if (this.#pixels) {
      const shown = this.shownAt(x, y);
      if (!this.#cells) return shown;
      const { lat = NaN, lon = NaN } = this.place(x, y);
      return this.#cells.find(lon, lat, shown);
    }
    const row = nearest(facts.y, this.#y, y);
    const column = nearest(facts.x, this.#x, x);
    return row < 0 || column < 0 ? -1 : row * facts.x.n + column;
  }

  /**
   * The point that the picture's pixel at x and y shows, as one number; -1 for none. Of a plane
   * without straight rows.
   * @param {number} x
   * @param {number} y
   * @returns {number}
   */
  shownAt(x, y) {
    const pixel = this.#pixelAt(x, y);
    return pixel < 0 ? -1 : this.#shownIn(pixel);
  }

  /**
   * The same to the true edges of cells: a place is looked for where pixels beside its own show
   * another cell, in cells that these show and around them.
   * @param {number} x
   * @param {number} y
   * @returns {number}
   */
  seenAt(x, y) {
    const pixel = this.#pixelAt(x, y);
    if (pixel < 0) return -1;
    const { width = 0, height = 0 } = this.facts;
    const [column, row] = [pixel % width, Math.floor(pixel / width)];
    const shown = this.#shownIn(pixel);
    const found = [shown];
    for (let r = Math.max(0, row - 1); r <= Math.min(height - 1, row + 1); r += 1) {
      for (let c = Math.max(0, column - 1); c <= Math.min(width - 1, column + 1); c += 1) {
        const point = this.#shownIn(r * width + c);
        if (!found.includes(point)) found.push(point);
      }
    }
    if (found.length === 1 || !this.#cells) return shown;
    const { lat = NaN, lon = NaN } = this.place(x, y);
    const guesses = found.filter((point) => point >= 0);
    const cell = this.#cells.findAround(lon, lat, guesses);
    return cell < 0 ? shown : cell;
  }

  /** Row and column of each of the picture's pixels, of a plane without straight rows. */
  get pixels() {
    return this.#pixels;
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  #pixelAt(x, y) {
    const { extent = [], width = 0, height = 0 } = this.facts;
    const [left, right, bottom, top] = extent;
    const across = Math.floor(((x - left) / (right - left)) * width);
    const down = Math.floor(((top - y) / (top - bottom)) * height);
    const isInside = across >= 0 && across < width && down >= 0 && down < height;
    return isInside ? down * width + across : -1;
  }

  /** @param {number} pixel */
  #shownIn(pixel) {
    const [rows, columns] = this.#pixels ?? [[], []];
    const row = rows[pixel];
    return row === NO_POINT ? -1 : row * this.facts.x.n + columns[pixel];
  }

  /**
   * Where a point lies; null where that is not known.
   * @param {number} point
   * @returns {Place | null}
   */
  placeOf(point) {
    const at = this.#cells ? null : this.of(point);
    return this.#cells?.place(point) ?? (at && this.place(...at));
  }

  /**
   * The point in whose cell a place lies, as one number; -1 outside of the grid.
   * @param {Place} place
   * @param {[x: number, y: number] | null} [at] its coordinates on the plane
   */
  point(place, at = this.coordinates(place)) {
    const { lat, lon } = place;
    if (this.#cells && lat !== undefined && lon !== undefined)
      return this.#cells.find(lon, lat, -1);
    return at === null ? -1 : this.pointAt(...at);
  }

  /**
   * x and y of a place on the plane, or null where it cannot lie there.
   * @param {Place} place
   * @returns {[x: number, y: number] | null}
   */
  coordinates({ lat, lon, x, y, plane }) {
    if (!this.onEarth || lat === undefined || lon === undefined) {
      if (x === undefined || y === undefined || this.onEarth) return null;
      return (plane ?? this.#plane) === this.#plane ? [x, y] : null;
    }
    if (this.#nodes) return this.#fromMesh(lon, lat);
    const [a, b] = this.#pixels ? (this.facts.extent ?? []) : (this.facts.x.edges ?? []);
    const left = Math.min(a, b);
    const turned = left + ((((lon - left) % 360) + 360) % 360);
    return [turned <= Math.max(a, b) ? turned : lon, lat];
  }

  /**
   * The place at x and y of the plane.
   * @param {number} x
   * @param {number} y
   * @returns {Place}
   */
  place(x, y) {
    const { facts } = this;
    if (facts.geographic) return { lat: y, lon: turn(x) };
    if (!this.#nodes) {
      const at = facts.along ? nearest(facts.x, this.#x, x) : -1;
      const earth = at < 0 ? {} : { lat: facts.along?.lat[at], lon: facts.along?.lon[at] };
      return { ...earth, x, y, plane: this.#plane };
    }
    const [left, right] = facts.x.edges ?? [];
    const [top, bottom] = facts.y.edges ?? [];
    const last = (facts.mesh?.n ?? 2) - 1;
    const [a, b, c] = this.#between(
      ((y - top) / (bottom - top)) * last,
      ((x - left) / (right - left)) * last,
    );
    return { lat: Math.atan2(c, Math.hypot(a, b)) / DEGREE, lon: Math.atan2(b, a) / DEGREE };
  }

  /**
   * The coordinates of a point; on a plane without straight rows of a pixel that shows it, or null
   * where there is none.
   * @param {number} point
   * @returns {[x: number, y: number] | null}
   */
  of(point) {
    const { x, extent = [], width = 0, height = 0 } = this.facts;
    if (!this.#pixels) return [this.#x[point % x.n], this.#y[Math.floor(point / x.n)]];
    this.#pixelOf ??= this.#pixelsOfPoints(this.#pixels);
    const pixel = this.#pixelOf[point] ?? -1;
    if (pixel < 0) return null;
    const [left, right, bottom, top] = extent;
    return [
      left + (((pixel % width) + 0.5) / width) * (right - left),
      top - ((Math.floor(pixel / width) + 0.5) / height) * (top - bottom),
    ];
  }

  /** @param {Uint16Array[]} pixels */
  #pixelsOfPoints([rows, columns]) {
    const { x, y } = this.facts;
    const found = new Int32Array(x.n * y.n).fill(-1);
    for (let pixel = 0; pixel < rows.length; pixel += 1) {
      if (rows[pixel] !== NO_POINT) found[rows[pixel] * x.n + columns[pixel]] = pixel;
    }
    return found;
  }

  /**
   * The file's index of a point by dimension, as text; "" where there is none.
   * @param {number} point
   */
  index(point) {
    const { x, y } = this.facts;
    const at = [Math.floor(point / x.n), point % x.n];
    const parts = [y, x].map(({ dimension, index }, one) =>
      dimension && index ? `${dimension} ${index[0] + index[1] * at[one]}` : "",
    );
    return parts.filter(Boolean).join(", ");
  }

  /**
   * Bilinear between nodes; linear beyond the outermost.
   * @param {number} row
   * @param {number} column
   */
  #between(row, column) {
    const nodes = this.#nodes ?? new Float64Array();
    const { n } = this.facts.mesh ?? { n: 2 };
    const r = Math.min(n - 2, Math.max(0, Math.floor(row)));
    const c = Math.min(n - 2, Math.max(0, Math.floor(column)));
    const [down, right] = [row - r, column - c];
    return [0, 1, 2].map((part) => {
      const at = 3 * (r * n + c) + part;
      const upper = nodes[at] * (1 - right) + nodes[at + 3] * right;
      const lower = nodes[at + 3 * n] * (1 - right) + nodes[at + 3 * n + 3] * right;
      return upper * (1 - down) + lower * down;
    });
  }

  /** @param {number} cells in each direction */
  #middlesOf(cells) {
    const found = new Float64Array(3 * cells ** 2);
    for (let cell = 0; cell < cells ** 2; cell += 1) {
      const at = this.#between(Math.floor(cell / cells) + 0.5, (cell % cells) + 0.5);
      const far = Math.hypot(...at);
      found.set(
        at.map((part) => part / far),
        3 * cell,
      );
    }
    return found;
  }

  /**
   * By Newton's steps from the middle of the nearest cell.
   * @param {number} lon
   * @param {number} lat
   * @returns {[x: number, y: number] | null}
   */
  #fromMesh(lon, lat) {
    const { n } = this.facts.mesh ?? { n: 2 };
    this.#middles ??= this.#middlesOf(n - 1);
    const wanted = vector(lon, lat);
    let best = -2;
    let at = [0, 0];
    for (let cell = 0; cell < (n - 1) ** 2; cell += 1) {
      const near = dot(wanted, this.#middles, 3 * cell);
      if (near > best)
        [best, at] = [near, [Math.floor(cell / (n - 1)) + 0.5, (cell % (n - 1)) + 0.5]];
    }
    for (let step = 0; step < STEPS; step += 1) {
      const [row, column] = at;
      const here = this.#between(row, column);
      const far = Math.hypot(...here);
      const rest = wanted.map((part, axis) => part * far - here[axis]);
      const below = this.#between(row + 0.5, column);
      const above = this.#between(row - 0.5, column);
      const right = this.#between(row, column + 0.5);
      const left = this.#between(row, column - 0.5);
      const byRow = below.map((part, axis) => part - above[axis]);
      const byColumn = right.map((part, axis) => part - left[axis]);
      // Least squares of three equations in two unknowns.
      const [aa, ab, bb] = [dot(byRow, byRow), dot(byRow, byColumn), dot(byColumn, byColumn)];
      const [ra, rb] = [dot(byRow, rest), dot(byColumn, rest)];
      const whole = aa * bb - ab * ab;
      const by = [(ra * bb - rb * ab) / whole, (rb * aa - ra * ab) / whole];
      if (!by.every(Number.isFinite)) return null;
      at = at.map((one, axis) => Math.min(n, Math.max(-1, one + by[axis])));
      if (Math.max(...by.map(Math.abs)) < 1e-9) break;
    }
    const [left, right] = this.facts.x.edges ?? [];
    const [top, bottom] = this.facts.y.edges ?? [];
    at = at.map((one) => {
      const edge = Math.min(n - 1, Math.max(0, one));
      return Math.abs(edge - one) < ROUNDING ? edge : one;
    });
    return [left + (at[1] / (n - 1)) * (right - left), top + (at[0] / (n - 1)) * (bottom - top)];
  }
}

/**
 * The coordinates of an axis's points; none for a plane without straight rows.
 * @param {GridAxis} axis
 */
function pointsOf({ n, start, step, points }) {
  if (points) return Float64Array.from(points);
  if (start === undefined) return new Float64Array();
  return Float64Array.from({ length: n }, (_, at) => start + (step ?? 0) * at);
}

/**
 * The number of the nearest point, or -1 beyond the axis's edges.
 * @param {GridAxis} axis
 * @param {Float64Array} points sorted, in either direction
 * @param {number} at
 */
function nearest({ edges = [0, 0], log, start, step }, points, at) {
  if (!(at >= Math.min(...edges) && at <= Math.max(...edges))) return -1;
  const last = points.length - 1;
  if (start !== undefined) {
    return step ? Math.min(last, Math.max(0, Math.round((at - start) / step))) : 0;
  }
  const rising = points[0] <= points[last];
  let low = 0;
  let high = last;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle] < at === rising) low = middle + 1;
    else high = middle;
  }
  const far = (/** @type {number} */ one) =>
    log ? Math.abs(Math.log(points[one] / at)) : Math.abs(points[one] - at);
  return low > 0 && far(low - 1) <= far(low) ? low - 1 : low;
}

/**
 * @param {number} lon
 * @param {number} lat
 */
function vector(lon, lat) {
  const across = Math.cos(lat * DEGREE);
  return [across * Math.cos(lon * DEGREE), across * Math.sin(lon * DEGREE), Math.sin(lat * DEGREE)];
}

/**
 * @param {number[]} a
 * @param {ArrayLike<number>} b
 * @param {number} from where b begins
 */
function dot(a, b, from = 0) {
  return a[0] * b[from] + a[1] * b[from + 1] + a[2] * b[from + 2];
}

/** @param {number} lon */
function turn(lon) {
  return ((((lon + 180) % 360) + 360) % 360) - 180;
}
