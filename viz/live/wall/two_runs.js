import { limitsOf, span } from "../drawing/caption.js";
import { unitsOfDifference } from "../elements/value_label.js";

/** @import { Comparison } from "./comparison.js" */
/** @import { Look, Painted } from "../drawing/looks.js" */
/** @import { Bar } from "../drawing/paint.js" */
/** @import { IndexLine } from "../types.d.ts" */

/**
 * What a comparison mode shows where the other run has no picture, if it is another mode.
 * @type {Map<string, string>}
 */
const ALONE = new Map([
  ["split", "off"],
  ["difference", "without"],
]);

/**
 * @typedef {object} Scale
 * @property {[low: number, high: number] | null} limits
 * @property {string} two
 * @property {string} apart the same while only the first picture is painted
 */

/**
 * The colours of two runs' pictures at one time: `limits` that hold both, where the pictures have
 * two scales and can be painted in one, else null; `two` says which scale the second one has, where
 * there are two.
 * @param {IndexLine} mine
 * @param {IndexLine} theirs
 * @param {Look} look
 * @param {string} run the second one's
 * @returns {Scale}
 */
export function commonScale(mine, theirs, look, run) {
  const values = mine.values && theirs.values;
  const plain = `; ${run} as it is`;
  if (look.minus) return { limits: null, two: look.minus === "run" ? plain : "", apart: plain };
  const [own, other] = [mine.facts ?? {}, theirs.facts ?? {}];
  const [first, second] = [limitsOf(own), limitsOf(other)];
  const alike = (look.map || own.colormap === other.colormap) && own.units === other.units;
  const same = (look.limits && values) ?? (first && second && first.join() === second.join());
  if (!first || !second) return { limits: null, two: "", apart: plain };
  const apart = `; two scales: the colours of ${run} are ${span(...second, second)}`;
  if (alike && same) return { limits: null, two: "", apart };
  if (!alike || !values) return { limits: null, two: apart, apart };
  /** @type {[low: number, high: number]} */
  const limits = [Math.min(first[0], second[0]), Math.max(first[1], second[1])];
  return { limits, two: apart, apart };
}

/**
 * The limits that hold those of two pictures in the same units, where these are not the same; else
 * null.
 * @param {Pick<Bar, "limits" | "units"> | null} mine
 * @param {Pick<Bar, "limits" | "units"> | null} theirs
 * @returns {[low: number, high: number] | null}
 */
export function widerLimits(mine, theirs) {
  if (!mine || !theirs || mine.units !== theirs.units) return null;
  const [first, second] = [mine.limits, theirs.limits];
  if (first.join() === second.join()) return null;
  return [Math.min(first[0], second[0]), Math.max(first[1], second[1])];
}

/**
 * The look of the other run's picture: limits are in the units of the one that they are chosen for.
 * @param {Look} look
 * @param {IndexLine} mine
 * @param {IndexLine} theirs
 * @returns {Look}
 */
export function lookBeside(look, mine, theirs) {
  const units = [mine, theirs].map(({ facts }) =>
    look.minus ? unitsOfDifference(facts?.units) : facts?.units,
  );
  return units[0] === units[1] ? look : { ...look, limits: null };
}

/**
 * What the colours of two runs' pictures are; of one picture `alone`.
 * @param {Scale | null} scale
 * @param {Painted | null} mine
 * @param {Painted | null} theirs
 * @param {string} alone
 */
export function scaleLabel(scale, mine, theirs, alone) {
  if (!scale?.two) return scale && mine && !theirs ? scale.apart : alone;
  return scale.limits && mine && theirs ? "; one scale for both runs" : scale.two;
}

/**
 * A single picture must not look like a difference or like two halves.
 * @param {Comparison | null} comparison
 * @param {IndexLine | undefined} other
 * @param {Painted | null} painted
 */
export function shownMode(comparison, other, painted) {
  if (!comparison) return "off";
  const isThere = comparison.mode !== "difference" || painted;
  if (other) return isThere ? comparison.mode : "without";
  return ALONE.get(comparison.mode) ?? comparison.mode;
}
