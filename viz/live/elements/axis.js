import { dateOf, dayNumber } from "./calendars.js";
import { showNumber, showNumbers } from "./digits.js";
import { axisKind, positions, tickLabel } from "./valid_time.js";

/** @import { Axis } from "../types.d.ts" */
/** @import { AxisKind } from "./valid_time.js" */

/** Values on an axis. */
const MOST = 100;
const DAY_S = 86400;
/** Of the larger of two numbers: what is less apart is the same number. */
const SAME = 1e-13;
const YEAR_S = 31536000;
/**
 * Labels on an axis beside the pictures, where they are long.
 * @type {Record<string, number>}
 */
const COUNTS = { calendar: 3 };
const CLOCK_STEPS_S = [
  1,
  2,
  5,
  10,
  15,
  30,
  60,
  120,
  300,
  600,
  900,
  1800,
  3600,
  7200,
  10800,
  21600,
  43200,
  86400,
  172800,
  432000,
  864000,
  2592000,
  7776000,
  15552000,
  YEAR_S,
];

/** Times a power of ten, how far ticks are apart. */
const FACTORS = [0.1, 0.2, 0.5, 1, 2, 5, 10];

/**
 * About `count` round values between two numbers, 1, 2 or 5 times a power of ten apart; two at
 * least, from which an axis can be read, unless both numbers are the same.
 * @param {number} low
 * @param {number} high
 * @param {number} count
 */
export function ticks(low, high, count) {
  const rough = (high - low) / count;
  if (!(rough > SAME * Math.max(Math.abs(low), Math.abs(high)))) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  let at = FACTORS.findIndex((factor) => factor >= 1 && factor * power >= rough);
  if (at < 0) at = FACTORS.length - 1; // by rounding
  let found = multiples(low, high, power * FACTORS[at]);
  for (; found.length < 2 && at; at -= 1) found = multiples(low, high, power * FACTORS[at - 1]);
  return found;
}

/**
 * The same with their labels, in as many digits as tell them apart.
 * @param {number} low
 * @param {number} high
 * @param {number} count
 * @returns {Axis["ticks"]}
 */
export function labelledTicks(low, high, count) {
  const values = ticks(low, high, count);
  const labels = showNumbers(values, values[1] - values[0]);
  return values.map((value, at) => [value, labels[at]]);
}

/**
 * Round values on a logarithmic scale, with their labels.
 * @param {number} low
 * @param {number} high
 * @returns {Axis["ticks"]}
 */
export function decadeTicks(low, high) {
  const values = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
    for (const step of high / low > 1000 ? [1] : [1, 2, 5]) values.push(step * 10 ** power);
  }
  const inside = values.filter((value) => value >= low && value <= high);
  return inside.map((value) => [value, showNumber(value, 0)]);
}

/**
 * The same for seconds on a clock: {step, values}.
 * @param {number} low
 * @param {number} high
 * @param {number} count
 */
export function clockTicks(low, high, count) {
  const rough = (high - low) / count;
  const step =
    rough < 1
      ? ticks(low, high, count)[1] - ticks(low, high, count)[0] || 1
      : (CLOCK_STEPS_S.find((s) => s >= rough) ?? YEAR_S * Math.ceil(rough / YEAR_S));
  return { step, values: multiples(low, high, step) };
}

/**
 * About `count` labelled values on an axis of model time, in the calendar of its keys.
 * @param {number} low
 * @param {number} high
 * @param {number} count
 * @param {AxisKind} kind
 * @param {string} calendar
 * @returns {[number, string][]}
 */
export function modelTicks(low, high, count, kind, calendar = "") {
  const { step, values } = clockTicks(low, high, count);
  const shown =
    kind === "calendar" && step >= YEAR_S ? yearStarts(low, high, count, calendar) : values;
  return shown.map((value) => [value, tickLabel(value, step, kind, calendar)]);
}

/**
 * The beginnings of about `count` years.
 * @param {number} low
 * @param {number} high
 * @param {number} count
 * @param {string} calendar
 */
function yearStarts(low, high, count, calendar) {
  const [first, last] = [low, high].map((at) => dateOf(Math.floor(at / DAY_S), calendar)[0]);
  const step = Math.max(1, ticks(first, last, count)[1] - ticks(first, last, count)[0] || 1);
  return multiples(first, last, step)
    .map((year) => dayNumber([year, 1, 1], calendar) * DAY_S)
    .filter((at) => at >= low);
}

/**
 * The axis of model time of these valid-time keys, and where each lies on it.
 * @param {string[]} times
 * @param {string} calendar
 * @returns {{ x: Axis, at: number[] }}
 */
export function modelTimeAxis(times, calendar = "") {
  const at = positions(times, calendar);
  const low = at[0];
  const last = at[at.length - 1];
  const kind = axisKind(times[0]);
  if (!(last > low)) {
    const [only] = modelTicks(low, low + 1, 1, kind, calendar);
    return { x: { low, high: low + 1, ticks: only ? [only] : [] }, at };
  }
  const high = Math.max(last, low + 1e-3);
  return { x: { low, high, ticks: modelTicks(low, high, COUNTS[kind] ?? 5, kind, calendar) }, at };
}

/**
 * The axis of values, none of which is NaN or infinite; from 0 to 1 where there are none.
 * @param {number[]} known
 * @returns {Axis}
 */
export function valueAxis(known) {
  const least = known.length ? known.reduce((a, b) => Math.min(a, b)) : 0;
  const most = known.length ? known.reduce((a, b) => Math.max(a, b)) : 1;
  const size = Math.max(Math.abs(least), Math.abs(most));
  const room = (most - least > 10 * SAME * size ? most - least : size || 1) * 0.06;
  const [low, high] = [least - room, most + room];
  return { low, high, ticks: labelledTicks(low, high, 4) };
}

/**
 * Sizes for a logarithmic axis: powers of two, at most `count` of them.
 * @param {number} low
 * @param {number} high
 * @param {number} count
 */
export function sizeTicks(low, high, count) {
  const first = Math.ceil(Math.log2(low));
  const last = Math.floor(Math.log2(high));
  const step = [5, 10, 20].find((size) => (last - first) / size < count) ?? 40;
  const values = [];
  for (let power = Math.ceil(first / step) * step; power <= last; power += step) {
    values.push(2 ** power);
  }
  return values;
}

/**
 * @param {number} low
 * @param {number} high
 * @param {number} step
 */
function multiples(low, high, step) {
  // Counted before: beyond 2^53 a number plus one is the same number.
  const first = Math.ceil(low / step - 1e-9);
  const length = Math.min(MOST, Math.floor(high / step + 1e-9) - first + 1);
  return Array.from({ length }, (_, at) => Number(((first + at) * step).toPrecision(15)));
}
