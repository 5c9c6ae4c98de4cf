import { timeLabel, timeSeconds } from "./valid_time.js";

/** @import { Album } from "./album.js" */
/** @import { Alarm, Mark, Status, Trip } from "./types.d.ts" */

/**
 * Alarms and guards' trips, each with its place on the time axis:
 * [{kind, t, time, seconds, text, where}], in the order in which they came,
 * those whose time is not known first.
 * @param {Status | null} status
 * @param {Album} album
 * @returns {Mark[]}
 */
export function marksOf(status, album) {
  const trips = objects(status?.trips);
  // A trip is an alarm as well, in the same words.
  const told = trips.map(({ guard, text }) => `guard "${guard}": ${text}`);
  const alarms = objects(status?.alarms).filter(
    ({ text }) => !told.some((sentence) => String(text).startsWith(sentence)),
  );
  return [
    ...trips.map((trip) => mark(kindOf(trip), trip, `${trip.guard}: ${trip.text}`, album)),
    ...alarms.map((alarm) => mark("alarm", alarm, String(alarm.text), album)),
  ].sort((a, b) => (a.t || 0) - (b.t || 0));
}

/**
 * The objects in a list that a foreign hand may have written.
 * @template {object} Item
 * @param {Item[] | null | undefined} list
 */
export function objects(list) {
  return Array.isArray(list) ? list.filter((one) => one !== null && typeof one === "object") : [];
}

/** @param {Trip} trip */
function kindOf({ then }) {
  return String(then).startsWith("stop") ? "stop" : "trip";
}

/**
 * Where no frame is named, what was published last by then stands for it.
 * @param {Mark["kind"]} kind
 * @param {Alarm} about
 * @param {string} text
 * @param {Album} album
 * @returns {Mark}
 */
function mark(kind, about, text, album) {
  const t = about.t ?? NaN;
  const named = typeof about.time === "string" ? about.time : "";
  const time = named || album.timeAt(t);
  const where = named && `${about.stream ?? ""} ${timeLabel(named)}`.trim();
  return { kind, t, time, seconds: time === null ? NaN : timeSeconds(time), text, where };
}
