import { showNumber } from "./digits.js";

/** @import { FieldFacts } from "../types.d.ts" */

/**
 * A value of a field with as many digits as its step allows, and its units. `step` is another one.
 * @param {number} value
 * @param {FieldFacts} field
 * @param {number} [step]
 */
export function valueLabel(value, field, step = stepAt(value, field)) {
  if (Number.isNaN(value)) return "no value";
  return [showNumber(value, step), field.printed].filter(Boolean).join(" ");
}

/**
 * How far neighbouring values of a field are apart where it has this value.
 * @param {number} value
 * @param {FieldFacts} field
 */
export function stepAt(value, { transform, scale }) {
  return transform === "log" ? Math.abs(value) * Math.expm1(scale) : scale;
}

/**
 * A field of what its values differ by.
 * @param {FieldFacts} field
 * @returns {FieldFacts}
 */
export function asDifference(field) {
  return { ...field, printed: unitsOfDifference(field.printed) };
}

/**
 * The units of a difference of two values: degrees of Celsius differ by kelvins.
 * @param {string} [units]
 */
export function unitsOfDifference(units = "") {
  return /^(°|º|deg(ree)?s?)?[ _]?(c|celsius)$/i.test(units) ? "K" : units;
}
