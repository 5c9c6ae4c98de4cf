import { valueOfCode } from "./values_file.js";

/** @import { Series } from "./album.js" */
/** @import { FieldStore } from "./field_store.js" */
/** @import { Pin } from "./pins.js" */
/** @import { Changed, IndexLine, Place, Source } from "./types.d.ts" */

/** From this many frames on the source is asked for the whole series, where it can give one. */
const MANY = 8;
const AT_ONCE = 4;
const AGAIN_MS = 5000;

/**
 * The values of one product at one place, by valid time; NaN where there is none.
 * @typedef {object} Known
 * @property {Map<string, number>} values
 * @property {Map<string, number | undefined>} sums of the pictures that they belong to
 * @property {boolean} asked whether the source gives the series just now
 * @property {number} again when it may be asked again, in milliseconds
 */

/** Values at kept places over all frames: filled in newest first, and followed. */
export class SeriesStore {
  #source;
  #fields;
  #changed;
  /** @type {Map<string, Known>} by pin and series */
  #known = new Map();
  #busy = 0;
  #stop = new AbortController();
  /** @type {{ pin: Pin, series: Series }[]} */
  #wanted = [];
  /** @type {WeakMap<IndexLine, number>} when values that could not be read are tried again */
  #failed = new WeakMap();

  /**
   * @param {Source} source
   * @param {FieldStore} fields
   * @param {Changed} changed
   */
  constructor(source, fields, changed) {
    this.#source = source;
    this.#fields = fields;
    this.#changed = changed;
  }

  /**
   * The values at a place at these times: NaN where there is none, undefined where it is not known
   * yet or the series has no frame.
   * @param {Pin} pin
   * @param {Series} series
   * @param {string[]} times
   */
  values(pin, series, times) {
    const known = this.#of(pin, series).values;
    return times.map((time) => known.get(time));
  }

  /**
   * How many of a series' frames are known.
   * @param {Pin} pin
   * @param {Series} series
   */
  count(pin, series) {
    return this.#of(pin, series).values.size;
  }

  /**
   * Fill in these; replaces what was wanted before.
   * @param {Pin[]} pins
   * @param {Series[]} shown
   */
  want(pins, shown) {
    this.#wanted = shown
      .filter((series) => hasValues(series))
      .flatMap((series) => pins.map((pin) => ({ pin, series })));
    for (const key of this.#known.keys()) {
      if (!pins.some((pin) => key.startsWith(keyOf(pin.place)))) this.#known.delete(key);
    }
    this.#fill();
  }

  #fill() {
    const whole = this.#source.series;
    for (const { pin, series } of this.#wanted) {
      const known = this.#of(pin, series);
      if (known.asked) continue;
      const lacking = this.#lacking(known, series);
      if (whole && lacking.length > MANY && known.again < performance.now()) {
        this.#ask(whole, pin, series, known);
      } else if (!whole || lacking.length <= MANY) {
        for (const line of lacking.slice(0, AT_ONCE)) {
          if (this.#busy < AT_ONCE) this.#read(line, series);
        }
      }
    }
  }

  /**
   * The lines that are not known, newest first.
   * @param {Known} known
   * @param {Series} series
   */
  #lacking({ values, sums }, series) {
    const lines = [];
    for (let at = series.times.length - 1; at >= 0; at -= 1) {
      const line = series.exactly(series.times[at]);
      if (!line) continue;
      const { time, crc32 } = line;
      if (!line.values) values.set(time, NaN);
      else if ((this.#failed.get(line) ?? 0) > performance.now()) continue;
      else if (!values.has(time) || sums.get(time) !== crc32) lines.push(line);
    }
    return lines;
  }

  /**
   * @param {NonNullable<Source["series"]>} whole
   * @param {Pin} pin
   * @param {Series} series
   * @param {Known} known
   */
  async #ask(whole, pin, series, known) {
    known.asked = true;
    try {
      const query = { product: series.product, stream: series.stream, ...pin.place };
      await whole(
        query,
        (time, value) => {
          known.values.set(time, value);
          known.sums.set(time, series.exactly(time)?.crc32);
          this.#changed();
        },
        this.#stop.signal,
      );
    } catch {
      // asked again, as after an answer that was cut short
    }
    known.again = performance.now() + AGAIN_MS;
    known.asked = false;
    setTimeout(this.#changed, AGAIN_MS + 50);
    this.#changed();
  }

  /**
   * Read one frame's values for all places that lack it.
   * @param {IndexLine} line
   * @param {Series} series
   */
  async #read(line, series) {
    const lacking = this.#wanted.filter(
      (one) =>
        one.series === series && this.#of(one.pin, series).sums.get(line.time) !== line.crc32,
    );
    for (const { pin } of lacking) this.#of(pin, series).sums.set(line.time, line.crc32);
    for (const { pin } of lacking) this.#of(pin, series).values.set(line.time, NaN);
    this.#busy += 1;
    try {
      const file = await this.#fields.open(line);
      const grids = await this.#fields.grids(file);
      for (const { pin } of lacking) {
        const value = await valueAt(file, grids, pin.place);
        this.#of(pin, series).values.set(line.time, value);
      }
    } catch {
      this.#failed.set(line, performance.now() + AGAIN_MS);
      for (const { pin } of lacking) this.#of(pin, series).sums.delete(line.time);
      for (const { pin } of lacking) this.#of(pin, series).values.delete(line.time);
      setTimeout(this.#changed, AGAIN_MS + 50);
    }
    this.#busy -= 1;
    this.#changed();
    this.#fill();
  }

  /**
   * @param {Pin} pin
   * @param {Series} series
   */
  #of(pin, series) {
    const key = `${keyOf(pin.place)}${series.id}`;
    let known = this.#known.get(key);
    if (!known) {
      known = { values: new Map(), sums: new Map(), asked: false, again: 0 };
      this.#known.set(key, known);
    }
    return known;
  }

  close() {
    this.#wanted = [];
    this.#stop.abort();
  }
}

/**
 * The value at a place of a picture whose values are not held; NaN outside.
 * @param {import("./values_file.js").ValuesFile} file
 * @param {import("./grid.js").Grid[]} grids
 * @param {Place} place
 */
async function valueAt(file, grids, place) {
  const at = grids[0].coordinates(place);
  if (!at) return NaN;
  for (let number = grids.length - 1; number >= 0; number -= 1) {
    const point = grids[number].pointAt(...at);
    if (point < 0) continue;
    const field = file.header.fields[number];
    const [row, column] = [Math.floor(point / field.nx), point % field.nx];
    const exact = field.outliers.find(([j, i]) => j === row && i === column);
    return exact?.[2] ?? valueOfCode(field, await file.codeAt(number, row, column));
  }
  return NaN;
}

/**
 * Whether pictures of a series have values: the newest may be a placeholder.
 * @param {Series} series
 */
export function hasValues(series) {
  return newestWithValues(series) !== undefined;
}

/**
 * The newest line of a series that has values, or traces of stations; or undefined.
 * @param {Series} series
 * @param {"values" | "traces"} [which]
 */
export function newestWithValues(series, which = "values") {
  for (let at = series.times.length - 1; at >= 0; at -= 1) {
    const line = series.exactly(series.times[at]);
    if (line?.[which]) return line;
  }
  return undefined;
}

/** @param {Place} place */
function keyOf({ lat, lon, x, y, plane }) {
  return `${lat},${lon},${x},${y},${plane} `;
}
