/** @import { FieldFacts, GridAxis, GridFacts, Place } from "./types.d.ts" */

const EARTH_KM = 6370;
const DEGREE = Math.PI / 180;
const MOST_DEGREES = 540; // planes across the seam count on beyond 180

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
 * A place for a link: "25.31;-91.92", "x4500;9200", or both with a comma between.
 * @param {Place} place
 */
export function placeOut({ lat, lon, x, y }) {
  const pair = (/** @type {number[]} */ ...at) => at.map((one) => +one.toPrecision(8)).join(";");
  return [
    lat !== undefined && lon !== undefined ? pair(lat, lon) : "",
    x !== undefined && y !== undefined ? `x${pair(x, y)}` : "",
  ]
    .filter(Boolean)
    .join(",");
}

/**
 * The place that a link names, or null where it is not one.
 * @param {string} text
 * @returns {Place | null}
 */
export function placeIn(text) {
  /** @type {Place} */
  const place = {};
  for (const part of text.split(",")) {
    const numbers = part.replace(/^x/, "").split(";");
    const [first, second] = numbers.map((one) => Number(one.trim() || NaN));
    if (numbers.length !== 2 || !Number.isFinite(first + second)) return null;
    if (part.startsWith("x")) Object.assign(place, { x: first, y: second });
    else if (Math.abs(first) > 90 || Math.abs(second) > MOST_DEGREES) return null;
    else Object.assign(place, { lat: first, lon: second });
  }
  return place;
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
 * Kilometres on the earth, else in the plane's units.
 * @param {Place} a
 * @param {Place} b
 */
export function distance(a, b) {
  if (a.lat === undefined || b.lat === undefined || a.lon === undefined || b.lon === undefined) {
    return Math.hypot((a.x ?? 0) - (b.x ?? 0), (a.y ?? 0) - (b.y ?? 0));
  }
  const half =
    Math.sin(((b.lat - a.lat) * DEGREE) / 2) ** 2 +
    Math.cos(a.lat * DEGREE) *
      Math.cos(b.lat * DEGREE) *
      Math.sin(((b.lon - a.lon) * DEGREE) / 2) ** 2;
  return 2 * EARTH_KM * Math.asin(Math.sqrt(Math.min(1, half)));
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
