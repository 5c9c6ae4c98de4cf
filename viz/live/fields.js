import { Grid } from "./grid.js";
import { ValuesFile, valuesOfCodes } from "./values_file.js";

/** @import { Changed, FieldFacts, GridFacts, IndexLine, Place, Source } from "./types.d.ts" */

const HELD = 24;
const AT_ONCE = 3;
const AGAIN_MS = 3000;

/**
 * A point of a picture's values: its field, its number in it, its value, and where it lies.
 * @typedef {object} Found
 * @property {number} number
 * @property {FieldFacts} field
 * @property {number} point
 * @property {number} value
 * @property {Place} place
 * @property {string} index
 * @property {GridFacts} grid
 */

/** The values of one picture, ready to be asked. */
export class Fields {
  /** @type {Map<number, number>[]} exact values by point */
  #outliers;

  /**
   * @param {ValuesFile} file
   * @param {Uint16Array[]} codes
   * @param {Grid[]} grids
   */
  constructor(file, codes, grids) {
    this.header = file.header;
    this.file = file;
    this.codes = codes;
    this.grids = grids;
    this.values = file.header.fields.map(valuesOfCodes);
    this.#outliers = file.header.fields.map(
      ({ outliers, nx }) =>
        new Map(outliers.map(([row, column, value]) => [row * nx + column, value])),
    );
  }

  /**
   * @param {number} number
   * @param {number} point
   */
  value(number, point) {
    return this.#outliers[number].get(point) ?? this.values[number][this.codes[number][point]];
  }

  /** The units of the lowest field, as printed. */
  get units() {
    return this.header.fields[0].printed;
  }

  /**
   * x and y of the plane at a pixel of the picture, or null outside of the map.
   * @param {number} across
   * @param {number} down
   * @returns {[x: number, y: number] | null}
   */
  coordinates(across, down) {
    const [left, top, right, bottom] = this.header.box;
    const u = (across - left) / (right - left);
    const v = (down - top) / (bottom - top);
    if (!(u >= 0 && u < 1 && v >= 0 && v < 1)) return null;
    const [first, last, low, high] = this.header.extent;
    const y = this.#isLog ? high * (low / high) ** v : high + v * (low - high);
    return [first + u * (last - first), y];
  }

  /**
   * The pixel of the picture at x and y of the plane.
   * @param {number} x
   * @param {number} y
   * @returns {[across: number, down: number]}
   */
  pixel(x, y) {
    const [left, top, right, bottom] = this.header.box;
    const [first, last, low, high] = this.header.extent;
    const u = (x - first) / (last - first);
    const v = this.#isLog ? Math.log(y / high) / Math.log(low / high) : (y - high) / (low - high);
    return [left + u * (right - left), top + v * (bottom - top)];
  }

  get #isLog() {
    return this.grids[0].facts.y.log ?? false;
  }

  /**
   * What is drawn at x and y of the plane: of several fields the topmost.
   * @param {number} x
   * @param {number} y
   * @returns {Found | null}
   */
  at(x, y) {
    for (let number = this.grids.length - 1; number >= 0; number -= 1) {
      const grid = this.grids[number];
      const point = grid.pointAt(x, y);
      if (point < 0) continue;
      return {
        number,
        field: this.header.fields[number],
        point,
        value: this.value(number, point),
        place: grid.place(x, y),
        index: grid.index(point),
        grid: grid.facts,
      };
    }
    return null;
  }
}

/** The values of one source's pictures: loaded when they are needed, a bounded number held. */
export class FieldStore {
  #source;
  #changed;
  /** @type {Map<string, Fields>} */
  #held = new Map();
  /** @type {Map<string, number>} when to try again, in milliseconds */
  #missing = new Map();
  /** @type {Map<string, Promise<Grid>>} */
  #grids = new Map();
  /** @type {Set<string>} */
  #loading = new Set();
  /** @type {IndexLine[]} */
  #wanted = [];

  /**
   * @param {Source} source
   * @param {Changed} changed
   */
  constructor(source, changed) {
    this.#source = source;
    this.#changed = changed;
  }

  /**
   * The values of a line's picture, or null until they are loaded.
   * @param {IndexLine} line
   */
  get(line) {
    const key = keyOf(line);
    const fields = this.#held.get(key) ?? null;
    if (fields) {
      this.#held.delete(key); // and added again as the most recently used
      this.#held.set(key, fields);
    }
    return fields;
  }

  /**
   * Whether a picture's values could not be loaded.
   * @param {IndexLine} line
   */
  isMissing(line) {
    return this.#missing.has(keyOf(line));
  }

  /**
   * Load the values of these lines, the first ones first; replaces what was wanted before.
   * @param {IndexLine[]} lines
   */
  want(lines) {
    this.#wanted = lines.filter((line) => line.values && !this.#held.has(keyOf(line)));
    this.#load();
  }

  #load() {
    for (const line of this.#wanted) {
      if (this.#loading.size >= AT_ONCE) return;
      const key = keyOf(line);
      if (this.#loading.has(key) || (this.#missing.get(key) ?? 0) > performance.now()) continue;
      this.#fetch(key, line);
    }
  }

  /**
   * @param {string} key
   * @param {IndexLine} line
   */
  async #fetch(key, line) {
    this.#loading.add(key);
    try {
      this.#held.set(key, await this.#read(line));
      this.#missing.delete(key);
      for (const old of this.#held.keys()) {
        if (this.#held.size > HELD) this.#held.delete(old);
      }
    } catch {
      this.#missing.set(key, performance.now() + AGAIN_MS);
      setTimeout(() => this.#load(), AGAIN_MS + 50);
    }
    this.#loading.delete(key);
    this.#changed();
    this.#load();
  }

  /** @param {IndexLine} line */
  async #read(line) {
    const file = await this.open(line);
    const grids = file.header.fields.map((field) => this.grid(field.grid));
    return new Fields(file, await file.codes(), await Promise.all(grids));
  }

  /**
   * The file with a line's values; rejects where it belongs to another picture.
   * @param {IndexLine} line
   */
  async open(line) {
    const file = new ValuesFile(await this.#source.values(line));
    if (file.header.picture !== line.crc32) throw new Error("values of another picture");
    return file;
  }

  /**
   * The grid of that hash.
   * @param {string} hash
   */
  grid(hash) {
    let grid = this.#grids.get(hash);
    if (!grid) {
      grid = this.#source.grid(hash).then(Grid.read);
      grid.catch(() => this.#grids.delete(hash)); // requested again next time
      this.#grids.set(hash, grid);
    }
    return grid;
  }
}

/** @param {IndexLine} line */
function keyOf(line) {
  return `${line.name}?${line.crc32}`;
}
