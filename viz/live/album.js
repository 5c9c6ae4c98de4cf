import { timeSeconds } from "./valid_time.js";

const PICTURES = new Set(["png", "jpg", "jpeg", "webp", "gif", "apng", "avif", "svg"]);

/** All frames of one product and stream, by valid time. */
export class Series {
  times = [];
  seconds = [];
  bytes = 0;
  #lines = new Map();

  constructor(line) {
    this.id = seriesId(line);
    this.product = line.product;
    this.stream = line.stream;
    this.extension = line.name.split(".").pop().toLowerCase();
    this.isPicture = PICTURES.has(this.extension);
  }

  /** The line of exactly that valid time, or undefined. */
  exactly(time) {
    return this.#lines.get(time);
  }

  /** The line of that valid time or of the last before it, or undefined. */
  at(time) {
    return this.#lines.get(time) ?? this.#lines.get(this.times[lastNotAfter(this.times, time)]);
  }

  take(line) {
    const before = this.#lines.get(line.time);
    if (before && before.attempt > line.attempt) return;
    this.bytes += (line.bytes ?? 0) - (before?.bytes ?? 0);
    this.#lines.set(line.time, line);
    if (before) return;
    const place = lastNotAfter(this.times, line.time) + 1;
    this.times.splice(place, 0, line.time);
    this.seconds.splice(place, 0, timeSeconds(line.time));
  }
}

/** What has been published of a run: its series, and how publication went over time. */
export class Album {
  /** Grows with each change. */
  version = 0;
  #order = [];

  constructor() {
    this.#forget();
  }

  #forget() {
    this.series = new Map();
    /** One entry a publication, in their order: Unix seconds, seconds, bytes, part of 1. */
    this.course = { t: [], latency: [], raw: [], made: [], fill: [], time: [] };
  }

  /** Take what a poll gave. */
  take({ lines, fresh }) {
    if (fresh && this.course.t.length) {
      this.#forget();
      this.version += 1;
    }
    for (const line of lines) this.#enter(line);
    if (lines.length) this.version += 1;
  }

  #enter(line) {
    const id = seriesId(line);
    if (!this.series.has(id)) this.series.set(id, new Series(line));
    this.series.get(id).take(line);
    const { t, latency, raw, made, fill, time } = this.course;
    t.push(line.t);
    time.push(line.time);
    latency.push(number(line.written) ? line.t - line.written : NaN);
    raw.push(number(line.raw_bytes) ? line.raw_bytes : NaN);
    made.push((made.at(-1) ?? 0) + (line.bytes ?? 0));
    fill.push(number(line.fill) ? line.fill : NaN);
  }

  /** Put the series in the order of these products' names: the recipe's, added ones last. */
  order(products) {
    this.#order = products;
  }

  /** Series that are pictures, in order. */
  get pictures() {
    return this.#sorted().filter((series) => series.isPicture);
  }

  /** Series that are not. */
  get files() {
    return this.#sorted().filter((series) => !series.isPicture);
  }

  #sorted() {
    const place = ({ product }) => this.#order.indexOf(product) + 1 || Infinity;
    return [...this.series.values()].sort((a, b) =>
      place(a) < place(b) || (place(a) === place(b) && a.id < b.id) ? -1 : 1,
    );
  }

  /** The valid time of what was published last at a Unix second, or null. */
  timeAt(t) {
    const place = lastNotAfter(this.course.t, t);
    return this.course.time[Math.max(0, place)] ?? null;
  }
}

/** The name of a series: its product and stream. */
export function seriesId(line) {
  return `${line.product} · ${line.stream}`;
}

/** The index of the last value that is not after `value` in a sorted list, or -1. */
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

/** Whether a line is a placeholder: the frame was damaged, or its product could not be made. */
export function isHole(line) {
  return Boolean(line.facts?.placeholder);
}

function number(value) {
  return typeof value === "number" && Number.isFinite(value);
}
