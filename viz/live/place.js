/** @import { FieldFacts, GridFacts, Place } from "./types.d.ts" */

const EARTH_KM = 6370;
const DEGREE = Math.PI / 180;
const MOST_DEGREES = 540; // planes across the seam count on beyond 180

/**
 * A place for people: "25.31° N 91.92° W", "x 4.50 km, y 9.20 km", "320 km, 5.4 km".
 * @param {Place} place
 * @param {GridFacts} [grid]
 */
export function placeLabel({ lat, lon, x, y, plane }, grid) {
  const parts = [];
  if (lat !== undefined && lon !== undefined) {
    parts.push(`${degrees(lat, "N", "S")} ${degrees(lon, "E", "W")}`);
  }
  if (x !== undefined && y !== undefined) {
    const [across, acrossUnits, up, upUnits] = (plane ?? (grid ? planeOf(grid) : "x;;y;")).split(
      ";",
    );
    parts.push(`${along(x, across, acrossUnits)}, ${along(y, up, upUnits)}`);
  }
  return parts.join(" · ");
}

/**
 * The names and units of a plane's axes (plane in lookup.py); what separates places in a link is
 * left out of them.
 * @param {GridFacts} grid
 */
export function planeOf({ x, y, units = "" }) {
  return [x.name ?? "x", x.units ?? units, y.name ?? "y", y.units ?? units]
    .map((word) => word.replace(/[;,_]/g, " "))
    .join(";");
}

/**
 * A place for a link: "25.31;-91.92", "x4500;9200;x;m;y;m", or both with a comma between.
 * @param {Place} place
 */
export function placeOut({ lat, lon, x, y, plane }) {
  const pair = (/** @type {number[]} */ ...at) => at.map((one) => +one.toPrecision(8)).join(";");
  return [
    lat !== undefined && lon !== undefined ? pair(lat, lon) : "",
    x !== undefined && y !== undefined ? [`x${pair(x, y)}`, plane].filter(Boolean).join(";") : "",
  ]
    .filter(Boolean)
    .join(",");
}

/**
 * The place that a link names, or null where it is not one. Older links name no plane.
 * @param {string} text
 * @returns {Place | null}
 */
export function placeIn(text) {
  /** @type {Place} */
  const place = {};
  for (const part of text.split(",")) {
    const onPlane = part.startsWith("x");
    const [one, other, ...words] = part.replace(/^x/, "").split(";");
    const [first, second] = [one, other].map((at) => Number(at?.trim() || NaN));
    const plane = words.length ? { plane: words.join(";") } : {};
    if (!Number.isFinite(first + second)) return null;
    if (onPlane && words.length % 4 === 0) Object.assign(place, { x: first, y: second, ...plane });
    else if (onPlane || words.length || Math.abs(first) > 90) return null;
    else if (Math.abs(second) > MOST_DEGREES) return null;
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
 * @param {string} name
 * @param {string} units
 */
function along(at, name, units) {
  const km = units === "m" && Math.abs(at) >= 1000;
  const text = String(Number((km ? at / 1000 : at).toPrecision(5))).replace("-", "−");
  return `${name} ${text} ${km ? "km" : units || "grid points"}`;
}
