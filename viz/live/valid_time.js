const CALENDAR = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)$/;

/**
 * Whether a key names a calendar time rather than an elapsed one.
 * @param {string} key
 */
export function isCalendar(key) {
  return CALENDAR.test(key);
}

/**
 * A key as people write it: "2005-08-28 12:00:00 UTC", or "t = 12.5 s".
 * @param {string} key
 */
export function timeLabel(key) {
  const found = CALENDAR.exec(key);
  if (found) {
    const [, year, month, day, hour, minute, second] = found;
    return `${year}-${month}-${day} ${hour}:${minute}:${second} UTC`;
  }
  return key.startsWith("t") && Number.isFinite(Number(key.slice(1)))
    ? `t = ${Number(key.slice(1))} s`
    : key;
}

/**
 * Seconds since 1970 of a calendar key, elapsed seconds of another; NaN for anything else.
 * @param {string} key
 */
export function timeSeconds(key) {
  const found = CALENDAR.exec(key);
  if (!found) return key.startsWith("t") ? Number(key.slice(1)) : NaN;
  const [year, month, day, hour, minute, second] = found.slice(1).map(Number);
  // Not Date.UTC(year, ...): it reads the year 1 of idealized runs as 1901.
  return (
    new Date(0).setUTCFullYear(year, month - 1, day) / 1000 + hour * 3600 + minute * 60 + second
  );
}

/**
 * The axis label of these seconds, to the unit of `step`: "12:30", "Aug 28", "90 s".
 * @param {number} seconds
 * @param {number} step
 * @param {boolean} calendar
 */
export function tickLabel(seconds, step, calendar) {
  if (!calendar) return `${Number(seconds.toFixed(3))} s`;
  const date = new Date(seconds * 1000);
  if (step >= 86400 || (step >= 3600 && seconds % 86400 === 0)) {
    return date.toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
  }
  return date.toISOString().slice(11, step < 60 ? 19 : 16);
}
