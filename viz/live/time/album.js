import { Segments } from "./segments.js";

/** @import { RunStatus } from "../status.d.ts" */
/** @import { IndexLine, Poll } from "../types.d.ts" */

const PICTURES = new Set(["png", "jpg", "jpeg", "webp", "gif", "apng", "avif", "svg"]);

/** The place of the CPU seconds in a line's clock. */
const CPU = 6;

/** All frames of one product and stream, by valid time. */
export class Series {
  /** @type {string[]} */
  times = [];
  bytes = 0;
  /** The calendar of its times, one of CF; empty where it is Gregorian. */
  calendar = "";
  /** @type {Map<string, IndexLine>} */
  #lines = new Map();

  /** @param {IndexLine} line */
  constructor(line) {
    this.id = seriesId(line);
    this.product = line.product;
    this.stream = line.stream;
    this.extension = line.name.slice(line.name.lastIndexOf(".") + 1).toLowerCase();
    this.isPicture = PICTURES.has(this.extension);
  }

  /**
   * The line of exactly that valid time, or undefined.
   * @param {string} time
   */
  exactly(time) {
    return this.#lines.get(time);
  }

  /**
   * The line of that valid time, else of the latest one before it, or undefined.
   * @param {string} time
   */
  at(time) {
    return this.#lines.get(time) ?? this.#lines.get(this.times[lastNotAfter(this.times, time)]);
  }

  /**
   * @param {IndexLine} line
   * @param {Segments} segments
   */
  take(line, segments) {
    this.calendar ||= line.facts?.calendar ?? "";
    const before = this.#lines.get(line.time);
    if (before && (before.attempt ?? 0) > (line.attempt ?? 0)) return;
    this.bytes += sizeOf(line) - (before ? sizeOf(before) : 0);
    const replaced = before?.replaced || (before?.attempt ?? 0) < (line.attempt ?? 0);
    const kept = before && replaced ? { ...line, replaced } : line;
    settle(kept, segments);
    this.#lines.set(line.time, kept);
    if (before) return;
    const place = lastNotAfter(this.times, line.time) + 1;
    this.times.splice(place, 0, line.time);
  }

  /**
   * Mark what is stale by these segments.
   * @param {Segments} segments
   */
  settle(segments) {
    for (const line of this.#lines.values()) settle(line, segments);
  }
}

/**
 * How publication went: one entry for each product, in order of publication. A line without the
 * time of its publication, which Burstlens never writes, is left out.
 */
export class Course {
  /**
   * Unix seconds.
   * @type {number[]}
   */
  t = [];
  /**
   * Valid-time keys.
   * @type {string[]}
   */
  time = [];
  /**
   * Seconds from frame written to file published, or NaN.
   * @type {number[]}
   */
  latency = [];
  /**
   * Bytes of all frames by then, or NaN.
   * @type {number[]}
   */
  raw = [];
  /**
   * Bytes of all files by then.
   * @type {number[]}
   */
  made = [];
  /**
   * Part of the buffer, from 0 to 1, or NaN.
   * @type {number[]}
   */
  fill = [];
  /**
   * The model's speed in seconds per second, or NaN.
   * @type {number[]}
   */
  speed = [];
  /**
   * CPU seconds of the worker's process, or NaN.
   * @type {number[]}
   */
  cpu = [];
  /** @type {IndexLine[]} */
  lines = [];

  /** @param {IndexLine} line */
  take(line) {
    if (!number(line.t)) return;
    this.lines.push(line);
    this.speed.push(number(line.speed) ? line.speed : NaN);
    const cpu = line.clock?.[CPU];
    this.cpu.push(number(cpu) ? cpu : NaN);
    this.t.push(line.t);
    this.time.push(line.time);
    this.latency.push(number(line.written) ? line.t - line.written : NaN);
    this.raw.push(number(line.raw_bytes) ? line.raw_bytes || NaN : NaN); // 0 has no logarithm
    this.made.push((this.made.at(-1) ?? 0) + sizeOf(line));
    this.fill.push(number(line.fill) ? line.fill : NaN);
  }
}

/**
 * Whether these series have nothing of a valid time but what is stale.
 * @param {Series[]} series
 * @param {string} time
 */
export function isStaleIn(series, time) {
  const lines = series.map((one) => one.exactly(time)).filter((line) => line !== undefined);
  return lines.length > 0 && lines.every(({ stale }) => stale);
}

/** What has been published of a run: its series, and how publication went over time. */
export class Album {
  /** Grows with each change. */
  version = 0;
  /** @type {string[]} */
  #order = [];

  /** @type {Map<string, Series>} */
  series = new Map();
  course = new Course();
  /** Which attempt of the model owns a valid time. */
  segments = new Segments();
  /** Whether there are older frames that are not known yet. */
  more = false;
  /** @type {IndexLine[]} */
  #lines = [];

  /**
   * Add what a poll returned.
   * @param {Pick<Poll, "lines" | "fresh" | "older" | "more" | "status">} found
   */
  take({ lines, fresh, older = [], more = false, status }) {
    this.more = more;
    this.#settle(status);
    if (fresh) this.#lines = [];
    let fewer = lines;
    if (older.length || (fresh && this.series.size)) {
      this.series = new Map();
      this.course = new Course();
      this.version += 1;
      // Later lines replace earlier ones, so all are entered again: each time there are more.
      fewer = this.#lines = [...older, ...this.#lines, ...lines];
    } else for (const line of lines) this.#lines.push(line);
    for (const line of fewer) this.#enter(line);
    if (lines.length) this.version += 1;
  }

  /** @param {RunStatus | null} status */
  #settle(status) {
    if (!status) return;
    const { key } = this.segments;
    this.segments = new Segments(status);
    if (this.segments.key === key) return;
    for (const series of this.series.values()) series.settle(this.segments);
    this.version += 1;
  }

  /** @param {IndexLine} line */
  #enter(line) {
    if (line.values && line.facts?.traces !== undefined) {
      line.traces = line.values;
      delete line.values;
    }
    const id = seriesId(line);
    const series = this.series.get(id) ?? new Series(line);
    this.series.set(id, series);
    series.take(line, this.segments);
    this.course.take(line);
  }

  /**
   * Sort the series by these product names: the recipe's order, added products last.
   * @param {string[]} products
   */
  order(products) {
    this.#order = products;
  }

  /** Series that are pictures, in order. */
  get pictures() {
    return this.#sorted().filter((series) => series.isPicture);
  }

  /** Series that are not pictures. */
  get files() {
    return this.#sorted().filter((series) => !series.isPicture);
  }

  /** The calendar of its times: that of the first series that has one. */
  get calendar() {
    return [...this.series.values()].find(({ calendar }) => calendar)?.calendar ?? "";
  }

  #sorted() {
    /** @param {Series} series */
    const place = ({ product }) => this.#order.indexOf(product) + 1 || Infinity;
    return [...this.series.values()].sort((a, b) =>
      place(a) < place(b) || (place(a) === place(b) && a.id < b.id) ? -1 : 1,
    );
  }

  /**
   * The valid time of the latest publication at a Unix second, or null.
   * @param {number} t
   */
  timeAt(t) {
    const place = lastNotAfter(this.course.t, t);
    return this.course.time[Math.max(0, place)] ?? null;
  }
}

/**
 * Mark a line that is stale. Where segments are known, a line of their owner is what is expected.
 * @param {IndexLine} line
 * @param {Segments} segments
 */
function settle(line, segments) {
  line.stale = segments.isStale(line);
  if (segments.all.length) line.replaced = false;
}

/**
 * The name of a series: its product and stream.
 * @param {Pick<IndexLine, "product" | "stream">} line
 */
export function seriesId(line) {
  return `${line.product} · ${line.stream}`;
}

/**
 * The index of the last value that is not after `value` in a sorted list, or -1.
 * @template {number | string} Value
 * @param {Value[]} sorted
 * @param {Value} value
 */
export function lastNotAfter(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * Whether a line is a placeholder: the frame was damaged, or its product could not be made.
 * @param {IndexLine} line
 */
export function isHole(line) {
  return Boolean(line.facts?.placeholder);
}

/**
 * @param {unknown} value
 * @returns {value is number}
 */
function number(value) {
  return typeof value === "number" && Number.isFinite(value);
}

/**
 * The bytes of a product, with its values and pieces.
 * @param {IndexLine} line
 */
export function sizeOf(line) {
  const files = [line, line.values, ...(Array.isArray(line.pieces) ? line.pieces : [])];
  return files.reduce((sum, file) => sum + (number(file?.bytes) ? file.bytes : 0), 0);
}
