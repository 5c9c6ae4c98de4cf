import { showNumbers, showRough, stepBetween } from "../elements/digits.js";
import { showUnits } from "../elements/quantity.js";
import { timeLabel } from "../elements/valid_time.js";
import { caveat } from "../run/attached.js";
import { isHole } from "../time/album.js";

/** @import { Difference } from "../values/difference.js" */
/** @import { Facts, IndexLine } from "../types.d.ts" */

/** Limits that are so many times apart are those of a logarithmic scale. */
const DECADES = 50;

/**
 * What a difference amounts to.
 * @param {Difference} difference
 * @param {string} [units]
 */
export function differenceLabel({ mean, rms, note }, units = "") {
  // What is a millionth of the differences themselves is how computers add.
  const mean_ = Math.abs(mean) < 1e-6 * rms ? 0 : mean;
  const parts = [`difference: mean ${showRough(mean_)}, RMS ${showRough(rms)}`, showUnits(units)];
  return parts.join(" ") + (note ? `; ${note}` : "");
}

/**
 * The range of a picture's values.
 * @param {Facts} facts
 */
export function rangeOf({ min, max, nan, units, limits }) {
  if (typeof min !== "number" || typeof max !== "number") return "";
  const gaps = nan ? `, ${nan} without value` : "";
  const in_ = units ? ` ${showUnits(units)}` : "";
  return `${span(min, max, limits)}${in_}${gaps}`;
}

/**
 * Two ends in digits by what they differ by; by their own size where the colours span decades.
 * @param {number} low
 * @param {number} high
 * @param {unknown} limits
 */
export function span(low, high, limits) {
  const [first, last] = Array.isArray(limits) ? limits : [0, 0];
  const isLog = first > 0 && last >= DECADES * first;
  const texts = isLog
    ? [low, high].flatMap((one) => showNumbers([one], Math.max(first / 100, stepBetween(0, one))))
    : showNumbers([low, high], stepBetween(low, high));
  return texts.join(" to ");
}

/**
 * A text where the colours of a picture have other limits than those of its series' newest one.
 * @param {IndexLine | undefined} line
 * @param {IndexLine | undefined} newest
 */
export function coloursOf(line, newest) {
  const [mine, last] = [line, newest].map((one) => {
    const limits = limitsOf(one?.facts);
    return limits && span(...limits, limits);
  });
  return !mine || !last || mine === last ? "" : `; colours ${mine} (newest picture: ${last})`;
}

/**
 * The limits of a picture's colours, or null where they are not known.
 * @param {Facts | null} [facts]
 * @returns {[low: number, high: number] | null}
 */
export function limitsOf(facts) {
  const limits = facts?.limits;
  const isKnown = Array.isArray(limits) && limits.length === 2 && limits.every(Number.isFinite);
  return isKnown ? limits : null;
}

/**
 * A picture in words, for those who do not see it.
 * @param {IndexLine} line
 * @param {string} [run] whose picture it is, beside that of another one
 * @param {string} [minus] what is taken away
 */
export function describe(line, run = "", minus = "") {
  const hole = isHole(line) ? `, placeholder: ${line.facts?.reason ?? "damaged"}` : "";
  const away = minus && `minus ${minus}`;
  const parts = [run, line.product, timeLabel(line.time), away, caveat(line)];
  if (line.stale) parts.push("stale");
  return parts.filter(Boolean).join(", ") + hole;
}
