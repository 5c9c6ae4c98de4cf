import {
  clockTicks,
  labelledTicks,
  modelTimeAxis,
  sizeTicks,
  ticks,
  valueAxis,
} from "../elements/axis.js";
import { showRough } from "../elements/digits.js";
import { element } from "../elements/element.js";
import { Plot } from "../elements/plot.js";
import { showBytes, showDuration, showUnits } from "../elements/quantity.js";
import { timeSeconds } from "../elements/valid_time.js";
import { attachedOf } from "./attached.js";
import { median } from "./timing.js";

/** @import { Album, Course, Series } from "../time/album.js" */
/** @import { RunStatus } from "../status.d.ts" */
/** @import { Axis, Facts } from "../types.d.ts" */

const DAY_S = 86400;
const YEAR_S = 365 * DAY_S;

/** How publication goes: latency, raw data against products, room on the buffer. */
export class Measures {
  #range = new Plot("Range", ["low", "high"]);
  #latency = new Plot("Latency", ["latency"]);
  #ledger = new Plot("Ledger", ["raw", "made"]);
  #fill = new Plot("Buffer", ["fill"]);
  #speed = new Plot("Speed", ["speed"]);
  #cpu = new Plot("Workers' CPU", ["cpu"]);
  #drawnFor = "";
  #rangeFor = "";

  constructor() {
    const plots = [this.#range, this.#latency, this.#speed, this.#cpu, this.#ledger, this.#fill];
    this.element = element(
      "section",
      { className: "measures", "aria-label": "Measures" },
      ...plots.map((plot) => plot.element),
    );
  }

  /**
   * `series` is the product whose range is shown over valid time, `time` the time that is shown.
   * @param {RunStatus | null} status
   * @param {Album} album
   * @param {Series | undefined} series
   * @param {string | null} time
   */
  show(status, album, series, time) {
    this.#showRange(album, series, time);
    const { t } = album.course;
    const name = `${album.version}|${status?.buffer?.raw_bytes}|${attachedOf(status) !== null}`;
    if (!t.length || name === this.#drawnFor) return;
    this.#drawnFor = name;
    const x = timeAxis(t);
    const looked = attachedOf(status) !== null;
    this.#showLatency(looked ? sinceArrival(album.course, status?.started) : album.course, x);
    this.#showSpeed(status, album.course, x);
    this.#showCpu(album.course, x);
    this.#showLedger(album.course, x, looked ? "frames" : "raw");
    if (looked) this.#fill.hide();
    else this.#showFill(status, album.course, x);
  }

  /**
   * @param {Album} album
   * @param {Series | undefined} series
   * @param {string | null} time
   */
  #showRange(album, series, time) {
    const name = `${album.version}|${series?.id}`;
    if (name !== this.#rangeFor) {
      this.#rangeFor = name;
      this.#drawRange(series);
    }
    this.#range.point(time === null ? NaN : timeSeconds(time, series?.calendar));
  }

  /** @param {Series | undefined} series */
  #drawRange(series) {
    if (!series) return this.#range.hide();
    const lines = series.times.map((one) => series.exactly(one));
    /** @type {Facts[]} */
    const facts = lines.map((line) => line?.facts ?? {});
    const lows = facts.map(({ min }) => (typeof min === "number" ? min : NaN));
    const highs = facts.map(({ max }) => (typeof max === "number" ? max : NaN));
    const known = [...lows, ...highs].filter(Number.isFinite);
    if (!known.length) return this.#range.hide();
    /** @type {Facts} */
    const { units, variable } = facts.findLast(({ min, max }) => Number.isFinite(min ?? max)) ?? {};
    const { times } = series;
    const { x, at: seconds } = modelTimeAxis(times, series.calendar);
    const in_ = units ? ` in ${showUnits(units)}` : "";
    const of = `${variable ?? series.product}${in_}:`;
    this.#range.show(
      [
        [of, ""],
        ["smallest", "low"],
        ["largest", "high"],
      ],
      x,
      valueAxis(known),
      seconds,
      [lows, highs],
      lines.map((line) => Boolean(line?.stale)),
    );
  }

  /**
   * @param {Course} course
   * @param {Axis} x
   */
  #showLatency({ t, latency }, x) {
    const known = latency.filter(Number.isFinite);
    if (!known.length) return this.#latency.hide();
    const sorted = known.slice().sort((a, b) => a - b);
    const [last, median] = [known[known.length - 1], sorted[sorted.length >> 1]];
    const heading = `last ${showDuration(last)}, median ${showDuration(median)}`;
    const high = Math.max(sorted[sorted.length - 1], 0.001);
    // The file server's clock may be ahead: values below zero are shown as they are.
    const low = Math.min(0, sorted[0]);
    /** @type {Axis} */
    const y = { low, high: high * 1.05, ticks: ticks(low, high, 2).map((v) => [v, `${v} s`]) };
    this.#latency.show([[heading, ""]], x, y, t, [latency]);
  }

  /**
   * Simulated years per day for runs of a year and more, else model seconds per second.
   * @param {RunStatus | null} status
   * @param {Course} course
   * @param {Axis} x
   */
  #showSpeed(status, { t, speed }, x) {
    const long = (status?.progress?.total_s ?? 0) >= YEAR_S;
    const list = long ? speed.map((value) => (value * DAY_S) / YEAR_S) : speed;
    const known = list.filter(Number.isFinite);
    if (!known.length) return this.#speed.hide();
    const unit = long ? "simulated years per day" : "× real time";
    const words = [
      `last ${showRough(known[known.length - 1])}`,
      `median ${showRough(median(known))}`,
    ];
    const high = known.reduce((a, b) => Math.max(a, b)) * 1.1 || 1;
    /** @type {Axis} */
    const y = { low: 0, high, ticks: labelledTicks(0, high, 2) };
    this.#speed.show([[`${words.join(", ")} ${unit}`, ""]], x, y, t, [list]);
  }

  /**
   * @param {Course} course
   * @param {Axis} x
   */
  #showCpu({ t, cpu }, x) {
    const known = cpu.filter(Number.isFinite);
    if (!known.length) return this.#cpu.hide();
    const heading = `median ${showDuration(median(known))} per product`;
    const high = known.reduce((a, b) => Math.max(a, b), 0.001) * 1.05;
    /** @type {Axis} */
    const y = { low: 0, high, ticks: ticks(0, high, 2).map((v) => [v, `${v} s`]) };
    this.#cpu.show([[heading, ""]], x, y, t, [cpu]);
  }

  /**
   * @param {Course} course
   * @param {Axis} x
   * @param {"raw" | "frames"} name
   */
  #showLedger({ t, raw, made }, x, name) {
    const lastRaw = raw.findLast(Number.isFinite);
    const lastMade = made[made.length - 1];
    const all = [...raw, ...made].filter((value) => value > 0);
    if (!lastRaw || !all.length) return this.#ledger.hide();
    const low = all.reduce((a, b) => Math.min(a, b)) / 1.5;
    const high = all.reduce((a, b) => Math.max(a, b)) * 1.5;
    /** @type {Axis} */
    const y = {
      low,
      high,
      scale: Math.log,
      ticks: sizeTicks(low, high, 3).map((v) => [v, showTick(v)]),
    };
    this.#ledger.show(
      [
        [`${name} ${showBytes(lastRaw)}`, "raw"],
        [`${name === "raw" ? "brought out" : "products"} ${showBytes(lastMade)}`, "made"],
      ],
      x,
      y,
      t,
      [raw, made],
    );
  }

  /**
   * @param {RunStatus | null} status
   * @param {Course} course
   * @param {Axis} x
   */
  #showFill(status, { t, fill }, x) {
    const known = fill.filter(Number.isFinite);
    if (!known.length) return this.#fill.hide();
    const buffer = status?.buffer;
    const share = known[known.length - 1];
    const heading =
      buffer && !buffer.released
        ? `${showBytes(buffer.raw_bytes)} of ${showBytes(buffer.capacity_bytes)}`
        : `${Number((100 * share).toPrecision(2))} % at the end`;
    const high = known.reduce((a, b) => Math.max(a, b), 0.01) * 1.05;
    /** @type {Axis} */
    const y = {
      low: 0,
      high,
      ticks: ticks(0, high * 100, 2).map((v) => [v / 100, `${v} %`]),
    };
    this.#fill.show([[heading, ""]], x, y, t, [fill]);
  }
}

/**
 * The course without the latencies of frames that were there before the run began to look.
 * @param {Course} course
 * @param {number | null | undefined} started
 * @returns {Course}
 */
function sinceArrival(course, started) {
  const from = started ?? 0;
  const latency = course.latency.map((value, i) => (course.t[i] - value < from ? NaN : value));
  return { ...course, latency, take: () => {} };
}

/**
 * Wall time since the first publication.
 * @param {number[]} t
 * @returns {Axis}
 */
function timeAxis(t) {
  const low = t[0];
  const high = Math.max(t[t.length - 1], low + 1);
  const { values } = clockTicks(0, high - low, 4);
  return { low, high, ticks: values.map((v) => [low + v, v === 0 ? "0 s" : shortDuration(v)]) };
}

/** @param {number} seconds */
function shortDuration(seconds) {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Number((seconds / 60).toFixed(1))} min`;
  return seconds < 172800 ? `${Number((seconds / 3600).toFixed(1))} h` : `${seconds / 86400} d`;
}

/** @param {number} value */
function showTick(value) {
  return showBytes(value).replace(/\.0+(?= )/, "");
}
