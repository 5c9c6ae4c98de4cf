import { dateOf, dayNumber } from "./calendars.js";

const CALENDAR = /^(\d{4}|-\d{6}|y\d{6})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d(?:\.\d{1,6})?)$/;
const ELAPSED = /^([r-u])(-?\d+\.(\d+))$/;
/** @type {Record<string, number>} */
const BELOW = { s: 1e8, r: 1e12 };
const DAY_S = 86400;
/** A step in seconds from which the year is shown. */
const YEARLY_S = 360 * DAY_S;
const MONTHLY_S = 30 * DAY_S;

/**
 * What an axis of such keys shows: times of a calendar, elapsed ones, numbers of files, or nothing.
 * @typedef {"calendar" | "elapsed" | "number" | ""} AxisKind
 * @param {string | undefined} key
 * @returns {AxisKind}
 */
export function axisKind(key = "") {
  if (CALENDAR.test(key)) return "calendar";
  if (!Number.isFinite(timeSeconds(key))) return "";
  return key.startsWith("n") ? "number" : "elapsed";
}

/**
 * Where these keys lie on an axis: their seconds or numbers, else their places in order.
 * @param {string[]} keys
 * @param {string} calendar
 */
export function positions(keys, calendar = "") {
  const seconds = keys.map((key) => timeSeconds(key, calendar));
  return seconds.every(Number.isFinite) ? seconds : keys.map((_, place) => place);
}

/**
 * A key as people write it: "2005-08-28 12:00:00 UTC", "t = 12.5 s", or for a file without any time
 * "number 120" or its name.
 * @param {string} key
 */
export function timeLabel(key) {
  const found = CALENDAR.exec(key);
  if (found) {
    const [, , month, day, hour, minute, second] = found;
    return `${yearLabel(yearOf(found[1]))}-${month}-${day} ${hour}:${minute}:${second} UTC`;
  }
  if (key.startsWith("f-")) {
    return key
      .slice(2)
      .replace(/--[0-9a-f]{8}$/, "")
      .replace(
        /([A-Za-z]?)(\d{10,})/g,
        (_, letter, digits) => letter + digits.replace(/^0+/, "").padStart(letter ? 1 : 2, "0"),
      );
  }
  const number = timeSeconds(key);
  if (!Number.isFinite(number)) return key;
  return key.startsWith("n") ? `number ${number}` : `t = ${number} s`;
}

/**
 * The same in short: without its date where another key beside it has the same one, without seconds
 * of 0 and without UTC.
 * @param {string} key
 * @param {string} [beside]
 */
export function shortLabel(key, beside = "") {
  const label = timeLabel(key);
  const found = /^(\S+ )(\d\d:\d\d)(:\S+) UTC$/.exec(label);
  if (!found) return label;
  const [, date, clock, seconds] = found;
  const day = timeLabel(beside).startsWith(date) ? "" : date;
  return day + clock + (seconds === ":00" ? "" : seconds);
}

/**
 * Seconds since 1970 of a calendar key in its calendar (one of CF; Gregorian when empty), elapsed
 * seconds of another, the number of a file without any time; NaN for anything else.
 * @param {string} key
 * @param {string} calendar
 */
export function timeSeconds(key, calendar = "") {
  const found = CALENDAR.exec(key);
  if (found) {
    const [month, day, hour, minute, second] = found.slice(2).map(Number);
    const days = dayNumber([yearOf(found[1]), month, day], calendar);
    return days * DAY_S + hour * 3600 + minute * 60 + second;
  }
  const elapsed = ELAPSED.exec(key);
  if (!elapsed) return key.startsWith("n") ? Number(key.slice(1)) : NaN;
  const [, letter, digits, part] = elapsed;
  return letter in BELOW
    ? Number((Number(digits) - BELOW[letter]).toFixed(part.length))
    : Number(digits);
}

/** @param {string} text */
function yearOf(text) {
  return text.startsWith("-") ? Number(text.slice(1)) - 1e6 : Number(text.replace("y", ""));
}

/** @param {number} year */
function yearLabel(year) {
  return (year < 0 ? "-" : "") + String(Math.abs(year)).padStart(4, "0");
}

/**
 * The axis label of these seconds, to the unit of `step`: "12:30", "28 Aug", "2005", "90 s", "120".
 * @param {number} seconds
 * @param {number} step
 * @param {AxisKind} kind
 * @param {string} calendar
 */
export function tickLabel(seconds, step, kind, calendar = "") {
  if (kind === "") return "";
  if (kind !== "calendar") {
    const number = Number(seconds.toPrecision(12));
    return kind === "number" ? `${number}` : `${number} s`;
  }
  const days = Math.floor(seconds / DAY_S);
  const ofDay = seconds - days * DAY_S;
  if (step >= DAY_S || (step >= 3600 && ofDay === 0)) {
    const [year, month, day] = dateOf(days, calendar);
    if (step >= YEARLY_S) return yearLabel(year);
    const date = `${day} ${MONTHS[month - 1]}`;
    return step < MONTHLY_S ? date : `${date} ${yearLabel(year)}`;
  }
  const digits = step < 1 ? Math.min(6, Math.ceil(-Math.log10(step) - 1e-9)) : 0;
  const [whole, part] = ofDay.toFixed(digits).split(".");
  const at = Number(whole);
  const clock = [Math.floor(at / 3600), Math.floor(at / 60) % 60, at % 60];
  const shown = clock.slice(0, step < 60 ? 3 : 2).map((n) => String(n).padStart(2, "0"));
  return [shown.join(":"), part].filter(Boolean).join(".");
}

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
