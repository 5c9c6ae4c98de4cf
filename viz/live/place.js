/** @import { FieldFacts, GridAxis, GridFacts, Place } from "./types.d.ts" */

/**
 * A place for people: "25.31° N 91.92° W", "x 4.50 km, y 9.20 km", "320 km, 5.4 km".
 * @param {Place} place
 * @param {GridFacts} [grid]
 */
export function placeLabel({ lat, lon, x, y }, grid) {
  const parts = [];
  if (lat !== undefined && lon !== undefined) {
    parts.push(`${degrees(lat, "N", "S")} ${degrees(lon, "E", "W")}`);
  }
  if (x !== undefined && y !== undefined) {
    parts.push(`${along(x, grid?.x, "x")}, ${along(y, grid?.y, "y")}`);
  }
  return parts.join(" · ");
}

/**
 * A value of a field with as many digits as its step allows, and its units.
 * @param {number} value
 * @param {FieldFacts} field
 */
export function valueLabel(value, field) {
  if (Number.isNaN(value)) return "no value";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const digits = Math.ceil(-Math.log10(field.scale || 1e-6));
  const text =
    field.transform === "log" || digits > 6 || Math.abs(value) >= 1e7
      ? String(Number(value.toPrecision(5)))
      : value.toFixed(Math.max(0, digits));
  const plain = Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
  return field.printed ? `${plain} ${field.printed}` : plain;
}

/**
 * @param {number} value
 * @param {string} above
 * @param {string} below
 */
function degrees(value, above, below) {
  const text = Math.abs(value).toFixed(3);
  return `${text}° ${Number(text) === 0 ? "" : value > 0 ? above : below}`.trim();
}

/**
 * @param {number} at
 * @param {GridAxis | undefined} axis
 * @param {string} letter
 */
function along(at, axis, letter) {
  const { name = letter, units = "" } = axis ?? {};
  const km = units === "m" && Math.abs(at) >= 1000;
  const text = String(Number((km ? at / 1000 : at).toPrecision(5))).replace("-", "−");
  return `${name} ${text} ${km ? "km" : units || "grid points"}`;
}
