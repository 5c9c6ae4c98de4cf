import { valueOfCode } from "../sources/values_file.js";

/** @import { Series } from "../time/album.js" */
/** @import { FieldStore } from "./field_store.js" */
/** @import { Pin } from "../places/pins.js" */
/** @import { Changed, IndexLine, Place, Source } from "../types.d.ts" */

/** From this many lacking frames on the source is asked for the whole series, where it can give one. */
const MANY = 8;
const AT_ONCE = 4;
/** Of the page, whatever the run: a browser has six connections to a server, and pictures need some. */
const WHOLE_AT_ONCE = 2;
const AGAIN_MS = 5000;
/** Values of a long series arrive in many pieces; a few times a second is enough to draw them. */
const ARRIVED_MS = 200;
/** Gaps that a later reading may fill. */
const PASSING = ["unreadable", "another picture"];

let asking = 0;

/**
 * The values of one product at one place, by valid time; NaN where there is none.
 * @typedef {object} Known
 * @property {Map<string, number>} values
 * @property {Map<string, number | undefined>} sums of the pictures that they belong to
 * @property {Map<string, Failed>} failed  frames that could not be read, by valid time
 * @property {IndexLine[]} lacking  lines that are to be read, the newest last
 * @property {number} checked  the version of the index that `lacking` is for
 * @property {number} due  when a failed frame is to be read again, in milliseconds
 * @property {AbortController | null} stop  ends the source's answer, while it gives the series
 * @property {number} again  when it may be asked again, in milliseconds
 * @property {number} version  grows after values have arrived
 */
/** @typedef {{ line: IndexLine, again: number, wait: number }} Failed */

/** Values at kept places over all frames: filled in newest first, and followed. */
export class SeriesStore {
  #source;
  #fields;
  #changed;
  /** @type {Map<string, Known>} by pin and series */
  #known = new Map();
  #busy = 0;
  /** @type {{ pin: Pin, series: Series }[]} */
  #wanted = [];
  #version = 0;
  /** @type {Set<Known>} */
  #arrived = new Set();
  /** @type {number | undefined} */
  #later;

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
    const { values, failed } = this.#of(pin, series);
    return values.size - failed.size;
  }

  /**
   * Grows after values of a series at these places have arrived.
   * @param {Pin[]} pins
   * @param {Series} series
   */
  version(pins, series) {
    return pins.reduce((sum, pin) => sum + this.#of(pin, series).version, 0);
  }

  /**
   * Fill in these, the first ones first; replaces what was wanted before. `version` is that of the
   * index.
   * @param {Pin[]} pins
   * @param {Series[]} shown
   * @param {number} version
   */
  want(pins, shown, version) {
    this.#version = version;
    this.#wanted = shown.flatMap((series) => pins.map((pin) => ({ pin, series })));
    for (const [key, { stop }] of this.#known) {
      if (pins.some((pin) => key.startsWith(keyOf(pin.place)))) continue;
      stop?.abort();
      this.#known.delete(key);
    }
    this.#fill();
  }

  #fill() {
    const whole = this.#source.series;
    for (const { pin, series } of this.#wanted) {
      const known = this.#of(pin, series);
      if (known.stop) continue;
      this.#check(known, series);
      if (whole && known.lacking.length > MANY) {
        const free = asking < WHOLE_AT_ONCE && known.again < performance.now();
        if (free) this.#ask(whole, pin, series, known);
        continue;
      }
      while (this.#busy < AT_ONCE) {
        const line = known.lacking.pop();
        if (!line) break;
        if (!isKnown(known, line)) this.#read(line, series);
      }
    }
  }

  /**
   * Find the lines that are to be read, after some have come or where one is to be read again.
   * @param {Known} known
   * @param {Series} series
   */
  #check(known, series) {
    const now = performance.now();
    if (known.checked === this.#version && known.due > now) return;
    Object.assign(known, { checked: this.#version, due: Infinity, lacking: [] });
    for (const time of series.times) {
      const line = series.exactly(time);
      const failed = known.failed.get(time);
      if (!line) continue;
      if (!line.values) {
        known.values.set(time, NaN);
        known.failed.delete(time);
      } else if (failed?.line === line && failed.again > now) {
        known.due = Math.min(known.due, failed.again);
      } else if (!isKnown(known, line)) known.lacking.push(line);
    }
  }

  /**
   * @param {NonNullable<Source["series"]>} whole
   * @param {Pin} pin
   * @param {Series} series
   * @param {Known} known
   */
  async #ask(whole, pin, series, known) {
    const stop = new AbortController();
    known.stop = stop;
    asking += 1;
    try {
      const query = { product: series.product, stream: series.stream, ...pin.place };
      await whole(
        query,
        (time, value, why) => {
          const line = series.exactly(time);
          if (line && PASSING.includes(why ?? "")) this.#fail(known, line);
          else this.#take(known, time, value, line);
        },
        stop.signal,
      );
    } catch {
      // asked again, as after an answer that was cut short
    }
    asking -= 1;
    Object.assign(known, { stop: null, again: performance.now() + AGAIN_MS, checked: -1 });
    this.#changed();
    this.#fill();
  }

  /**
   * Read one frame's values for all places that lack it.
   * @param {IndexLine} line
   * @param {Series} series
   */
  async #read(line, series) {
    const lacking = this.#wanted
      .filter((one) => one.series === series)
      .map(({ pin }) => ({ pin, known: this.#of(pin, series) }))
      .filter(({ known }) => !isKnown(known, line));
    for (const { known } of lacking) known.sums.set(line.time, line.crc32); // nobody else reads it
    this.#busy += 1;
    try {
      const file = await this.#fields.open(line);
      const grids = await this.#fields.grids(file);
      for (const { pin, known } of lacking) {
        this.#take(known, line.time, await valueAt(file, grids, pin.place), line);
      }
    } catch {
      for (const { known } of lacking) this.#fail(known, line);
    }
    this.#busy -= 1;
    this.#fill();
  }

  /**
   * @param {Known} known
   * @param {string} time
   * @param {number} value
   * @param {IndexLine | undefined} line
   */
  #take(known, time, value, line) {
    known.values.set(time, value);
    known.sums.set(time, line?.crc32);
    known.failed.delete(time);
    this.#draw(known);
  }

  /**
   * A gap for now: it is read again later, each time after twice as long.
   * @param {Known} known
   * @param {IndexLine} line
   */
  #fail(known, line) {
    const { time } = line;
    const before = known.failed.get(time);
    const wait = before?.line === line ? 2 * before.wait : AGAIN_MS;
    const again = performance.now() + wait;
    known.failed.set(time, { line, again, wait });
    known.due = Math.min(known.due, again);
    known.values.set(time, NaN);
    known.sums.delete(time);
    this.#draw(known);
  }

  /** @param {Known} known */
  #draw(known) {
    this.#arrived.add(known);
    this.#later ??= setTimeout(() => {
      for (const one of this.#arrived) one.version += 1;
      this.#arrived.clear();
      this.#later = undefined;
      this.#changed();
    }, ARRIVED_MS);
  }

  /**
   * @param {Pin} pin
   * @param {Series} series
   */
  #of(pin, series) {
    const key = `${keyOf(pin.place)}${series.id}`;
    let known = this.#known.get(key);
    if (!known) {
      known = {
        values: new Map(),
        sums: new Map(),
        failed: new Map(),
        lacking: [],
        checked: -1,
        due: 0,
        stop: null,
        again: 0,
        version: 0,
      };
      this.#known.set(key, known);
    }
    return known;
  }

  close() {
    this.#wanted = [];
    for (const { stop } of this.#known.values()) stop?.abort();
  }
}

/**
 * Whether the value in a line's picture is known, or being read.
 * @param {Known} known
 * @param {IndexLine} line
 */
function isKnown({ sums }, { time, crc32 }) {
  return sums.has(time) && sums.get(time) === crc32;
}

/**
 * The value at a place of a picture whose values are not held; NaN outside.
 * @param {import("../sources/values_file.js").ValuesFile} file
 * @param {import("./grid.js").Grid[]} grids
 * @param {Place} place
 */
async function valueAt(file, grids, place) {
  const at = grids[0].coordinates(place);
  for (let number = grids.length - 1; number >= 0; number -= 1) {
    const point = grids[number].point(place, at);
    if (point < 0) continue;
    const field = file.header.fields[number];
    const [row, column] = [Math.floor(point / field.nx), point % field.nx];
    const exact = field.outliers.find(([j, i]) => j === row && i === column);
    return exact?.[2] ?? valueOfCode(field, await file.codeAt(number, row, column));
  }
  return NaN;
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
