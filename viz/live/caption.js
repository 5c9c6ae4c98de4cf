import { showNumber, showUnits } from "./quantity.js";

/** @import { Difference } from "./difference.js" */
/** @import { Facts, IndexLine } from "./types.d.ts" */

/**
 * What a difference amounts to.
 * @param {Difference} difference
 * @param {string} [units]
 */
export function differenceLabel({ mean, rms, note }, units = "") {
  const parts = [`difference: mean ${showNumber(mean)}, RMS ${showNumber(rms)}`, showUnits(units)];
  return parts.join(" ") + (note ? `; ${note}` : "");
}

/**
 * The range of a picture's values.
 * @param {Facts} facts
 */
export function rangeOf({ min, max, nan, units }) {
  if (typeof min !== "number" || typeof max !== "number") return "";
  const gaps = nan ? `, ${nan} without value` : "";
  const in_ = units ? ` ${showUnits(units)}` : "";
  return `${showNumber(min)} to ${showNumber(max)}${in_}${gaps}`;
}

/**
 * A text where the colours of a picture have other limits than those of its series' newest one.
 * @param {IndexLine | undefined} line
 * @param {IndexLine | undefined} newest
 */
export function coloursOf(line, newest) {
  const [mine, last] = [limitsOf(line), limitsOf(newest)];
  return !mine || !last || mine === last ? "" : `; colours ${mine} (newest picture: ${last})`;
}

/**
 * The limits of a picture's colours, or "" where they are not known.
 * @param {IndexLine | undefined} line
 */
function limitsOf(line) {
  const limits = line?.facts?.limits;
  if (!Array.isArray(limits) || limits.length !== 2 || !limits.every(Number.isFinite)) return "";
  return limits.map(showNumber).join(" to ");
}
