// Days of the calendars that CF names, counted as in core/calendars.py.

/** @typedef {[year: number, month: number, day: number]} CalendarDate */

const BEFORE = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

/** @type {Record<string, string>} */
const NAMES = { gregorian: "standard", "365_day": "noleap", "366_day": "all_leap" };

/**
 * Calendars without a year 0, by our names of those with one.
 * @type {Record<string, string>}
 */
const WITH_YEAR_0 = { standard_with_year_0: "standard", julian_with_year_0: "julian" };

/**
 * Days before the first of a month since the year 1.
 * @type {Record<string, (year: number, month: number) => number>}
 */
const COUNTS = {
  proleptic_gregorian: gregorian,
  julian: (year, month) =>
    365 * (year - 1) +
    Math.floor((year - 1) / 4) +
    BEFORE[month - 1] +
    Number(year % 4 === 0 && month > 2) -
    2,
  noleap: (year, month) => 365 * (year - 1) + BEFORE[month - 1],
  all_leap: (year, month) => 366 * (year - 1) + BEFORE[month - 1] + Number(month > 2),
  "360_day": (year, month) => 360 * (year - 1) + 30 * (month - 1),
};

/**
 * The number of a day in its calendar: 0 on 1 January 1970. An empty or unknown calendar is
 * Gregorian at all times.
 * @param {CalendarDate} date
 * @param {string} calendar
 */
export function dayNumber([year, month, day], calendar = "") {
  const name = WITH_YEAR_0[calendar] ?? NAMES[calendar] ?? calendar;
  const rule = name === "standard" && isJulian(year, month, day) ? "julian" : name;
  const before = COUNTS[rule] ?? gregorian;
  const counted = year < 0 && lacksYear0(calendar, rule) ? year + 1 : year;
  return before(counted, month) + day - epoch(name);
}

/**
 * The date of that number.
 * @param {number} number
 * @param {string} calendar
 * @returns {CalendarDate}
 */
export function dateOf(number, calendar = "") {
  const name = WITH_YEAR_0[calendar] ?? NAMES[calendar] ?? calendar;
  const rule = name === "standard" && number < dayNumber([1582, 10, 15]) ? "julian" : name;
  const before = COUNTS[rule] ?? gregorian;
  const since = number + epoch(name);
  let year = 1 + Math.floor((since - 1) / (before(2, 1) - before(1, 1)));
  while (before(year, 1) >= since) year -= 1;
  while (before(year + 1, 1) < since) year += 1;
  let month = 12;
  while (before(year, month) >= since) month -= 1;
  const shown = year < 1 && lacksYear0(calendar, rule) ? year - 1 : year;
  return [shown, month, since - before(year, month)];
}

/**
 * Whether the year before 1 is -1.
 * @param {string} calendar
 * @param {string} rule
 */
function lacksYear0(calendar, rule) {
  return rule === "julian" && !(calendar in WITH_YEAR_0);
}

/**
 * The number of 1 January 1970 since the year 1.
 * @param {string} name
 */
function epoch(name) {
  return (COUNTS[name] ?? gregorian)(1970, 1) + 1;
}

/**
 * @param {number} year
 * @param {number} month
 * @param {number} day
 */
function isJulian(year, month, day) {
  return year * 10000 + month * 100 + day < 15821015;
}

/**
 * @param {number} year
 * @param {number} month
 */
function gregorian(year, month) {
  const past = year - 1;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return (
    365 * past +
    Math.floor(past / 4) -
    Math.floor(past / 100) +
    Math.floor(past / 400) +
    BEFORE[month - 1] +
    Number(leap && month > 2)
  );
}
