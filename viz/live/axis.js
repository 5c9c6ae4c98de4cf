import { axisKind, positions, tickLabel } from "./valid_time.js";

/** @import { Axis } from "./types.d.ts" */

/** Values on an axis. */
const MOST = 100;
const YEAR_S = 31536000;
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
  YEAR_S,
];

/**
 * About `count` round values between two numbers, 1, 2 or 5 times a power of ten apart.
 * @param {number} low
 * @param {number} high
 * @param {number} count
 */
export function ticks(low, high, count) {
  const rough = (high - low) / count;
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  return multiples(low, high, step);
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
 * The axis of model time of these valid-time keys, and where each lies on it.
 * @param {string[]} times
 * @returns {{ x: Axis, at: number[] }}
 */
export function modelTimeAxis(times) {
  const at = positions(times);
  const low = at[0];
  const high = Math.max(at[at.length - 1], low + 1e-3);
  const kind = axisKind(times[0]);
  const { step, values } = clockTicks(low, high, kind === "calendar" ? 3 : 5);
  return { x: { low, high, ticks: values.map((v) => [v, tickLabel(v, step, kind)]) }, at };
}

/**
 * The axis of values, none of which is NaN or infinite; from 0 to 1 where there are none.
 * @param {number[]} known
 * @returns {Axis}
 */
export function valueAxis(known) {
  const least = known.length ? known.reduce((a, b) => Math.min(a, b)) : 0;
  const most = known.length ? known.reduce((a, b) => Math.max(a, b)) : 1;
  const room = (most - least || Math.abs(least) || 1) * 0.06;
  const [low, high] = [least - room, most + room];
  return { low, high, ticks: ticks(low, high, 4).map((v) => [v, showTick(v)]) };
}

/** @param {number} value */
function showTick(value) {
  return String(Number(value.toPrecision(5))).replaceAll("-", "−");
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
  return Array.from({ length }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}
