import { showUnits } from "./quantity.js";
import { timeLabel, timeSeconds } from "./valid_time.js";

/**
 * Alarms and guards' trips, each with its place on the time axis:
 * [{kind, t, time, seconds, text, place}], in the order in which they came.
 */
export function marksOf(status, album) {
  const trips = (status?.trips ?? []).map((trip) => mark(
    String(trip.then).startsWith("stop") ? "stop" : "trip", trip, `${trip.guard}: ${trip.text}`, whereOf(trip)));
  const told = (status?.trips ?? []).map((trip) => `guard "${trip.guard}": ${trip.text}`);
  const alarms = (status?.alarms ?? [])
    .filter(({ text }) => !told.some((sentence) => String(text).startsWith(sentence)))
    .map((alarm) => mark("alarm", alarm, String(alarm.text), ""));
  return [...trips, ...alarms].map((one) => located(one, album)).sort((a, b) => a.t - b.t);
}

function mark(kind, { t, time }, text, where) {
  return { kind, t: Number(t), time: typeof time === "string" && time ? time : null, text, place: where };
}

/** Where no frame is named, what was published last by then stands for it. */
function located(one, album) {
  const time = one.time ?? album.timeAt(one.t);
  return { ...one, time, seconds: time === null ? NaN : timeSeconds(time) };
}

/** Value, coordinates, index and time of a trip, as far as they are known. */
function whereOf({ variable, value, units, place, time }) {
  const parts = [];
  if (variable) {
    const unit = units ? ` ${showUnits(units)}` : "";
    parts.push(`${variable} ${typeof value === "number" ? `= ${rounded(value)}${unit}` : "not finite"}`);
  }
  const { index = {}, xy_units: across, z_units: up, ...coordinates } = place ?? {};
  for (const [name, at] of Object.entries(coordinates)) {
    const unit = { lon: "°", lat: "°", z: ` ${up ?? ""}` }[name] ?? ` ${across ?? ""}`;
    parts.push(`${name} ${rounded(at)}${unit}`.trim());
  }
  const points = Object.entries(index).map(([name, number]) => `${name} ${number}`);
  if (points.length) parts.push(`at ${points.join(", ")}`);
  if (typeof time === "string" && time) parts.push(timeLabel(time));
  return parts.join("; ");
}

function rounded(value) {
  return typeof value === "number" ? String(Number(value.toPrecision(6))).replaceAll("-", "−") : String(value);
}
