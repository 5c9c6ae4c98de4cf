import { valuesOfCodes } from "../sources/values_file.js";
import { PixelMap } from "./pixel_map.js";

/** @import { Grid } from "./grid.js" */
/** @import { FieldFacts, GridFacts, Place } from "../types.d.ts" */
/** @import { ValuesFile } from "../sources/values_file.js" */

const MAPS = 12;
/** @type {Map<string, PixelMap>} */
const pixelMaps = new Map();

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

  run = "";
  /** @type {WeakMap<object, ({ value: number, place: Place } | null)[]>} by the values, or this */
  #extremes = new WeakMap();
  /** @type {{ box: number[], image: ImageBitmap }[] | null} what lies over the fields */
  overlay = null;

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

  /**
   * All values of a field, its exact ones among them, point by point.
   * @param {number} number
   */
  all(number) {
    const [values, codes] = [this.values[number], this.codes[number]];
    const found = new Float64Array(codes.length);
    for (let point = 0; point < codes.length; point += 1) found[point] = values[codes[point]];
    for (const [point, value] of this.#outliers[number]) found[point] = value;
    return found;
  }

  /**
   * All values of a field minus those of another picture on the same points.
   * @param {Fields} other
   * @param {number} number
   */
  minus(other, number) {
    const [values, codes] = [this.values[number], this.codes[number]];
    const [theirs, others] = [other.values[number], other.codes[number]];
    const found = new Float64Array(codes.length);
    for (let point = 0; point < codes.length; point += 1) {
      found[point] = values[codes[point]] - theirs[others[point]];
    }
    const exact = [this, other].flatMap((one) => [...one.#outliers[number].keys()]);
    for (const point of exact)
      found[point] = this.value(number, point) - other.value(number, point);
    return found;
  }

  /**
   * How many points of a field have each value: values and counts, exact ones among them.
   * @param {number} number
   * @returns {[values: ArrayLike<number>, counts: ArrayLike<number>]}
   */
  counts(number) {
    const [values, codes] = [this.values[number], this.codes[number]];
    const exact = [...this.#outliers[number]];
    const counts = new Uint32Array(values.length + exact.length);
    for (let point = 0; point < codes.length; point += 1) counts[codes[point]] += 1;
    exact.forEach(([point], at) => {
      counts[codes[point]] -= 1;
      counts[values.length + at] = 1;
    });
    return [[...values, ...exact.map(([, value]) => value)], counts];
  }

  /**
   * The smallest and the largest finite one of values on the lowest field's points, each with its
   * place: by default of its own.
   * @param {Float64Array} [values]
   */
  extremes(values) {
    const key = values ?? this;
    const found = this.#extremes.get(key) ?? this.#findExtremes(values ?? this.all(0));
    this.#extremes.set(key, found);
    return found;
  }

  /** @param {Float64Array} values */
  #findExtremes(values) {
    let [least, most] = [-1, -1];
    values.forEach((value, point) => {
      if (!Number.isFinite(value)) return;
      if (least < 0 || value < values[least]) least = point;
      if (most < 0 || value > values[most]) most = point;
    });
    return [least, most].map((point) => {
      const place = point < 0 ? null : this.grids[0].placeOf(point);
      return place && { value: values[point], place };
    });
  }

  /**
   * A quantity of each point of a field, by what each code has of it.
   * @param {number} number
   * @param {(values: ArrayLike<number>) => Uint32Array} of
   */
  each(number, of) {
    const codes = this.codes[number];
    const byCode = of(this.values[number]);
    const found = new Uint32Array(codes.length);
    for (let point = 0; point < codes.length; point += 1) found[point] = byCode[codes[point]];
    for (const [point, value] of this.#outliers[number]) found[point] = of([value])[0];
    return found;
  }

  /**
   * The point of each pixel of the map.
   * @param {number} number
   */
  pixels(number) {
    const { box, extent, fields } = this.header;
    const key = `${fields[number].grid} ${box} ${extent}`;
    let map = pixelMaps.get(key);
    if (!map) {
      const [left, top, right, bottom] = box;
      map = new PixelMap(this, number, middlesOf(left, right), middlesOf(top, bottom));
      if (pixelMaps.size >= MAPS) pixelMaps.clear();
      pixelMaps.set(key, map);
    }
    return map;
  }

  /**
   * About how much memory it takes: codes and the bytes of its file, a colour for each point where
   * the page paints them, and a float64 where they are compared.
   */
  get bytes() {
    const points = this.codes.reduce((sum, { length }) => sum + length, 0);
    return this.file.bytes + (2 + 4 + 8) * points;
  }

  /** The name of the picture that these values belong to. */
  get key() {
    const { product, stream, time, picture } = this.header;
    return `${this.run} ${product} ${stream} ${time} ${picture}`;
  }

  /**
   * x and y of the plane at a pixel of the picture, or null outside of the map.
   * @param {number} across
   * @param {number} down
   * @returns {[x: number, y: number] | null}
   */
  coordinates(across, down) {
    return coordinatesIn(this.map, across, down);
  }

  /** Where the map lies in the picture, and in the plane. */
  get map() {
    return { box: this.header.box, extent: this.header.extent, isLog: this.#isLog };
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

/**
 * x and y of the plane at a pixel of a picture, or null outside of its map.
 * @param {Fields["map"]} map
 * @param {number} across
 * @param {number} down
 * @returns {[x: number, y: number] | null}
 */
export function coordinatesIn({ box, extent, isLog }, across, down) {
  const [left, top, right, bottom] = box;
  const u = (across - left) / (right - left);
  const v = (down - top) / (bottom - top);
  if (!(u >= 0 && u < 1 && v >= 0 && v < 1)) return null;
  const [first, last, low, high] = extent;
  const y = isLog ? high * (low / high) ** v : high + v * (low - high);
  return [first + u * (last - first), y];
}

/**
 * The middles of the pixels from one edge to another.
 * @param {number} first
 * @param {number} last
 */
function middlesOf(first, last) {
  return Float64Array.from({ length: last - first }, (_, at) => first + at + 0.5);
}
