import { clockTicks, sizeTicks, ticks } from "./axis.js";
import { element } from "./element.js";
import { Plot } from "./plot.js";
import { showBytes, showDuration, showNumber, showUnits } from "./quantity.js";
import { isCalendar, tickLabel, timeSeconds } from "./valid_time.js";

/** How publication goes: latency, raw data against products, room on the buffer. */
export class Measures {
  #range = new Plot("Range", ["low", "high"]);
  #latency = new Plot("Latency", ["latency"]);
  #ledger = new Plot("Ledger", ["raw", "made"]);
  #fill = new Plot("Buffer", ["fill"]);
  #drawnFor = "";
  #rangeFor = "";

  constructor() {
    const plots = [this.#range, this.#latency, this.#ledger, this.#fill];
    this.element = element(
      "section",
      { className: "measures", "aria-label": "Measures" },
      ...plots.map((plot) => plot.element),
    );
  }

  /** `series` is the product whose range is shown over valid time, `time` what is looked at. */
  show(status, album, series, time) {
    this.#showRange(album, series, time);
    const { t } = album.course;
    const name = `${album.version}|${status?.buffer?.raw_bytes}`;
    if (!t.length || name === this.#drawnFor) return;
    this.#drawnFor = name;
    const x = timeAxis(t);
    this.#showLatency(album.course, x);
    this.#showLedger(album.course, x);
    this.#showFill(status, album.course, x);
  }

  #showRange(album, series, time) {
    const name = `${album.version}|${series?.id}`;
    if (name !== this.#rangeFor) {
      this.#rangeFor = name;
      this.#drawRange(series);
    }
    this.#range.point(time === null ? NaN : timeSeconds(time));
  }

  #drawRange(series) {
    const facts = (series?.times ?? []).map((one) => series.exactly(one).facts ?? {});
    const lows = facts.map(({ min }) => (typeof min === "number" ? min : NaN));
    const highs = facts.map(({ max }) => (typeof max === "number" ? max : NaN));
    const known = [...lows, ...highs].filter(Number.isFinite);
    if (!known.length) return this.#range.hide();
    const low = known.reduce((a, b) => Math.min(a, b));
    const high = known.reduce((a, b) => Math.max(a, b));
    const room = low === high ? Math.abs(low) || 1 : 0;
    const { units, variable } = facts.findLast((one) => typeof one.min === "number");
    const { seconds, times } = series;
    const [first, last] = [seconds[0], Math.max(seconds.at(-1), seconds[0] + 1e-3)];
    const calendar = isCalendar(times[0]);
    const { step, values } = clockTicks(first, last, calendar ? 3 : 5);
    const x = {
      low: first,
      high: last,
      ticks: values.map((v) => [v, tickLabel(v, step, calendar)]),
    };
    const y = {
      low: low - room,
      high: high + room,
      ticks: ticks(low - room, high + room, 4).map((v) => [v, showNumber(v)]),
    };
    const of = `${variable ?? series.product}${units ? ` in ${showUnits(units)}` : ""}:`;
    const told = [
      [of, ""],
      ["smallest", "low"],
      ["largest", "high"],
    ];
    this.#range.show(told, x, y, seconds, [lows, highs]);
  }

  #showLatency({ t, latency }, x) {
    const known = latency.filter(Number.isFinite);
    if (!known.length) return this.#latency.hide();
    const sorted = known.slice().sort((a, b) => a - b);
    const told = `last ${showDuration(known.at(-1))}, median ${showDuration(sorted[sorted.length >> 1])}`;
    const high = Math.max(sorted.at(-1), 0.001);
    // The file server's clock may be ahead: then values below zero are shown as such.
    const low = Math.min(0, sorted[0]);
    const y = { low, high: high * 1.05, ticks: ticks(low, high, 2).map((v) => [v, `${v} s`]) };
    this.#latency.show([[told, ""]], x, y, t, [latency]);
  }

  #showLedger({ t, raw, made }, x) {
    const lastRaw = raw.findLast(Number.isFinite);
    const lastMade = made.at(-1);
    const all = [...raw, ...made].filter((value) => value > 0);
    if (!lastRaw || !all.length) return this.#ledger.hide();
    const low = all.reduce((a, b) => Math.min(a, b)) / 1.5;
    const high = all.reduce((a, b) => Math.max(a, b)) * 1.5;
    const y = {
      low,
      high,
      scale: Math.log,
      ticks: sizeTicks(low, high, 3).map((v) => [v, showTick(v)]),
    };
    const told = [
      [`raw ${showBytes(lastRaw)}`, "raw"],
      [`brought out ${showBytes(lastMade)}`, "made"],
    ];
    this.#ledger.show(told, x, y, t, [raw, made]);
  }

  #showFill(status, { t, fill }, x) {
    const known = fill.filter(Number.isFinite);
    if (!known.length) return this.#fill.hide();
    const buffer = status?.buffer;
    const share = known.at(-1);
    const told =
      buffer && !buffer.released
        ? `${showBytes(buffer.raw_bytes)} of ${showBytes(buffer.capacity_bytes)}`
        : `${(100 * share).toPrecision(2) * 1} % at the end`;
    const high = known.reduce((a, b) => Math.max(a, b), 0.01) * 1.05;
    const y = {
      low: 0,
      high,
      ticks: ticks(0, high * 100, 2).map((v) => [v / 100, `${v} %`]),
    };
    this.#fill.show([[told, ""]], x, y, t, [fill]);
  }
}

/** Wall time since the first publication. */
function timeAxis(t) {
  const low = t[0];
  const high = Math.max(t.at(-1), low + 1);
  const { values } = clockTicks(0, high - low, 4);
  return { low, high, ticks: values.map((v) => [low + v, v === 0 ? "0 s" : shortDuration(v)]) };
}

function shortDuration(seconds) {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Number((seconds / 60).toFixed(1))} min`;
  return seconds < 172800 ? `${Number((seconds / 3600).toFixed(1))} h` : `${seconds / 86400} d`;
}

function showTick(value) {
  return showBytes(value).replace(/\.0+(?= )/, "");
}
