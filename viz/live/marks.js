import { showUnits } from "./quantity.js";
import { timeLabel, timeSeconds } from "./valid_time.js";

/**
 * Alarms and guards' trips, each with its place on the time axis:
 * [{kind, t, time, seconds, text, place}], in the order in which they came.
 */
export function marksOf(status, album) {
  const alarms = (status?.alarms ?? []).map((alarm) => mark("alarm", alarm, alarm.text, ""));
  const trips = (status?.trips ?? []).map((trip) =>
    mark(trip.then === "stop" ? "stop" : "trip", trip, `${trip.guard}: ${trip.text}`, whereOf(trip)));
  const told = new Set(trips.map((trip) => trip.text));
  return [...trips, ...alarms.filter((alarm) => !told.has(alarm.text))]
    .map((one) => located(one, album))
    .sort((a, b) => a.t - b.t);
}

function mark(kind, { t, time }, text, where) {
  return { kind, t: Number(t), time: typeof time === "string" ? time : null, text: String(text), place: where };
}

/** Where no frame is named, what was published last by then stands for it. */
function located(one, album) {
  const time = one.time ?? album.timeAt(one.t);
  return { ...one, time, seconds: time === null ? NaN : timeSeconds(time) };
}

function whereOf(trip) {
  const parts = [];
  if (trip.variable) {
    parts.push(`${trip.variable} = ${trip.value ?? "NaN"}${trip.units ? ` ${showUnits(trip.units)}` : ""}`);
  }
  for (const [name, value] of Object.entries(trip.place ?? {})) {
    parts.push(name === "index" ? `at [${value}]` : `${name} ${rounded(value)}`);
  }
  if (typeof trip.time === "string") parts.push(timeLabel(trip.time));
  return parts.join(", ");
}

function rounded(value) {
  return typeof value === "number" ? Number(value.toPrecision(6)) : String(value);
}
