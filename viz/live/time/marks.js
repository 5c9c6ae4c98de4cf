import { timeLabel, timeSeconds } from "../elements/valid_time.js";

/** @import { Album } from "./album.js" */
/** @import { Message, RunStatus, TripPart } from "../status.d.ts" */
/** @import { Mark } from "../types.d.ts" */

/**
 * Alarms and guards' trips, each with its place on the time axis:
 * [{kind, t, time, seconds, text, where}], in order of their time, those without one first.
 * @param {RunStatus | null} status
 * @param {Album} album
 * @returns {Mark[]}
 */
export function marksOf(status, album) {
  const trips = objects(status?.trips);
  // A trip is also reported as an alarm, with the same text.
  const reported = trips.map(({ guard, text }) => `guard "${guard}": ${text}`);
  const alarms = objects(status?.alarms).filter(
    ({ text }) => !reported.some((sentence) => String(text).startsWith(sentence)),
  );
  return [
    ...trips.map((trip) => mark(kindOf(trip), trip, `${trip.guard}: ${trip.text}`, album)),
    ...alarms.map((alarm) => mark("alarm", alarm, String(alarm.text), album)),
  ].sort((a, b) => (a.t || 0) - (b.t || 0));
}

/**
 * The objects in a list; another program may have written others into it.
 * @template Item
 * @param {Item[] | null | undefined} list
 * @returns {Exclude<Item, string>[]}
 */
export function objects(list) {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/**
 * @template Item
 * @param {Item} one
 * @returns {one is Exclude<Item, string>}
 */
function isObject(one) {
  return one !== null && typeof one === "object";
}

/** @param {TripPart} trip */
function kindOf({ then, after_end: late }) {
  if (!String(then).startsWith("stop")) return "trip";
  return late ? "late" : "stop";
}

/**
 * Without a frame it gets the time of the latest publication before it.
 * @param {Mark["kind"]} kind
 * @param {Pick<Message, "t" | "stream" | "time">} about
 * @param {string} text
 * @param {Album} album
 * @returns {Mark}
 */
function mark(kind, about, text, album) {
  const t = about.t ?? NaN;
  const named = typeof about.time === "string" ? about.time : "";
  const time = named || album.timeAt(t);
  const where = named && `${about.stream ?? ""} ${timeLabel(named)}`.trim();
  const seconds = time === null ? NaN : timeSeconds(time, album.calendar);
  return { kind, t, time, seconds, text, where };
}

/**
 * The mark before or after the chosen one in order of valid time; the first or last without one.
 * @param {Mark[]} marks
 * @param {string} chosen a mark as JSON
 * @param {number} direction
 * @returns {Mark | undefined}
 */
export function markBeside(marks, chosen, direction) {
  const timed = marks.filter(({ time }) => time !== null).sort((a, b) => a.seconds - b.seconds);
  const here = timed.findIndex((mark) => JSON.stringify(mark) === chosen);
  return timed[here < 0 ? (direction > 0 ? 0 : timed.length - 1) : here + direction];
}
