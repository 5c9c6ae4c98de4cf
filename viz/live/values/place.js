import { showNumber } from "../elements/digits.js";

/** @import { GridAxis, GridFacts, Place } from "../types.d.ts" */

const EARTH_KM = 6370;
const DEGREE = Math.PI / 180;
/** Degrees are said to about 100 m, or to a half of finer cells. */
const DEGREES = 0.001;
const MOST_DEGREES = 540; // planes across the seam count on beyond 180

/**
 * A place for people: "25.31° N 91.92° W", "x 4.50 km, y 9.20 km", "320 km, 5.4 km".
 * @param {Place} place
 * @param {GridFacts} [grid]
 */
export function placeLabel({ lat, lon, x, y, plane }, grid) {
  const parts = [];
  if (lat !== undefined && lon !== undefined) {
    const step = grid ? degreesBetween(grid) : 0;
    parts.push(`${degrees(lat, step, "N", "S")} ${degrees(lon, step, "E", "W")}`);
  }
  if (x !== undefined && y !== undefined) {
    const [across, acrossUnits, up, upUnits] = (plane ?? (grid ? planeOf(grid) : "x;;y;")).split(
      ";",
    );
    const steps = [grid?.x, grid?.y].map((axis) => (axis ? spacingOf(axis) : 0));
    parts.push(`${along(x, steps[0], across, acrossUnits)}, ${along(y, steps[1], up, upUnits)}`);
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
  const pair = (/** @type {number[]} */ ...at) => at.map((one) => +one.toPrecision(10)).join(";");
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
 * @param {number} step
 * @param {string} above
 * @param {string} below
 */
function degrees(value, step, above, below) {
  const text = showNumber(Math.abs(value), Math.min(DEGREES, step / 2 || DEGREES));
  return `${text}° ${Number(text) === 0 ? "" : value > 0 ? above : below}`.trim();
}

/**
 * How far the points of an axis are apart; 0 where they are not evenly so, or it is not known.
 * @param {GridAxis} axis
 */
function spacingOf({ n, step, points, edges, log }) {
  if (log) return 0;
  if (step) return Math.abs(step);
  if (edges) return Math.abs(edges[1] - edges[0]) / n;
  return points && n > 1 ? Math.abs(points[n - 1] - points[0]) / (n - 1) : 0;
}

/**
 * The same in degrees, of a plane in metres or degrees.
 * @param {GridFacts} grid
 */
function degreesBetween({ x, y, geographic, units }) {
  const apart = Math.min(spacingOf(x), spacingOf(y));
  if (geographic) return apart;
  const metres = { m: 1, km: 1000 }[x.units ?? units ?? ""] ?? 0;
  return ((apart * metres) / (1000 * EARTH_KM)) * (1 / DEGREE);
}

/**
 * @param {number} at
 * @param {number} step
 * @param {string} name
 * @param {string} units
 */
function along(at, step, name, units) {
  const km = units === "m" && Math.abs(at) >= 1000;
  const text = km ? showNumber(at / 1000, step / 2000) : showNumber(at, step / 2);
  return `${name} ${text} ${km ? "km" : units || "grid points"}`;
}
