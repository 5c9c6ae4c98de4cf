const CALENDAR = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)$/;

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
 */
export function positions(keys) {
  const seconds = keys.map(timeSeconds);
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
    const [, year, month, day, hour, minute, second] = found;
    return `${year}-${month}-${day} ${hour}:${minute}:${second} UTC`;
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
  const number = Number(key.slice(1));
  if (!Number.isFinite(number)) return key;
  if (key.startsWith("n")) return `number ${number}`;
  return /^[tu]/.test(key) ? `t = ${number} s` : key;
}

/**
 * Seconds since 1970 of a calendar key, elapsed seconds of another, the number of a file without any
 * time; NaN for anything else.
 * @param {string} key
 */
export function timeSeconds(key) {
  const found = CALENDAR.exec(key);
  if (!found) return /^[tnu]/.test(key) ? Number(key.slice(1)) : NaN;
  const [year, month, day, hour, minute, second] = found.slice(1).map(Number);
  // Not Date.UTC(year, ...): it reads the year 1 of idealized runs as 1901.
  return (
    new Date(0).setUTCFullYear(year, month - 1, day) / 1000 + hour * 3600 + minute * 60 + second
  );
}

/**
 * The axis label of these seconds, to the unit of `step`: "12:30", "Aug 28", "90 s", "120".
 * @param {number} seconds
 * @param {number} step
 * @param {AxisKind} kind
 */
export function tickLabel(seconds, step, kind) {
  if (kind === "") return "";
  const number = Number(seconds.toFixed(3));
  if (kind !== "calendar") return kind === "number" ? `${number}` : `${number} s`;
  const date = new Date(seconds * 1000);
  if (step >= 86400 || (step >= 3600 && seconds % 86400 === 0)) {
    return date.toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
  }
  return date.toISOString().slice(11, step < 60 ? 19 : 16);
}
