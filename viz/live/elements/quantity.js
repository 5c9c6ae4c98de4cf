const POWERS = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹";
const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/**
 * A size in binary units with three significant digits: "1.52 GiB".
 * @param {number} value
 */
export function showBytes(value) {
  let unit = 0;
  while (Math.abs(value) >= 1000 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  if (unit === 0) return `${Math.round(value)} B`;
  const digits = Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0;
  return `${value.toFixed(digits)} ${UNITS[unit]}`;
}

/**
 * A duration for people: "0.24 s", "42 s", "3 min 05 s", "2 h 10 min".
 * @param {number} seconds
 */
export function showDuration(seconds) {
  if (seconds < 1) return `${Number(seconds.toPrecision(2))} s`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${pad(whole % 60)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${pad(minutes % 60)} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/**
 * Units as they are printed: "m s⁻¹" for "m s-1".
 * @param {string} units
 */
export function showUnits(units) {
  return String(units).replace(/(?<=[a-zA-Z])-?\d+/g, (power) =>
    [...power].map((sign) => POWERS["-0123456789".indexOf(sign)]).join(""),
  );
}

/**
 * A number with its noun: "1 frame", "3 frames".
 * @param {number} number
 * @param {string} noun
 */
export function counted(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/**
 * The time of day of Unix seconds, on the viewer's clock; NaN where they are not known.
 * @param {number} seconds
 */
export function clockTime(seconds) {
  if (!Number.isFinite(seconds)) return "time unknown";
  return new Date(seconds * 1000).toLocaleTimeString("en-GB");
}

/**
 * The time of day on the viewer's clock, with the date where that is another day: "14:20".
 * @param {number} seconds
 */
export function dayTime(seconds) {
  const then = new Date(seconds * 1000);
  const text = then.toLocaleString("sv-SE").slice(0, 16);
  return then.toDateString() === new Date().toDateString() ? text.slice(11) : text;
}

/**
 * "1st", "2nd", "12th".
 * @param {number} number
 */
export function ordinal(number) {
  const teens = number % 100 > 10 && number % 100 < 14;
  return `${number}${teens ? "th" : (["", "st", "nd", "rd"][number % 10] ?? "th")}`;
}

/** @param {number} number */
function pad(number) {
  return String(number).padStart(2, "0");
}
