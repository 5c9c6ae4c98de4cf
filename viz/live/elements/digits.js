/** Numbers of more digits before or behind the point are written with a power of ten. */
const [BEFORE, BEHIND] = [7, 6];
/** Digits of a number of which nothing else is known. */
const ALONE = 6;
/** What is less is 0: what is left of computing with single precision (core/digits.py). */
const NOTHING = 1e-30;
/** Digits of a number that stands for itself, such as a speed. */
const ROUGH = 3;

/**
 * A number with the digits that a step needs: "995.50" by 0.02. What is less than half of the step
 * is 0. Without a step (0, NaN) it has six digits.
 * @param {number} value
 * @param {number} step
 */
export function showNumber(value, step) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? "−∞" : "–";
  const decimals = decimalsOf(value, step);
  const kept = Math.abs(value) < Math.max(NOTHING, step > 0 ? step / 2 : 0) ? 0 : value;
  const size = Math.abs(kept);
  const tooLong = size >= 10 ** BEFORE || decimals > BEHIND;
  if (tooLong && size > 0 && (size >= 10 ** BEFORE || size < 1e-4)) {
    const digits = Math.min(15, Math.max(0, Math.floor(Math.log10(size)) + decimals));
    const [digitsOf, power] = kept.toExponential(digits).split("e");
    return signed(`${Number(digitsOf)}e${Number(power)}`);
  }
  const isPlain = !(step > 0) || tooLong;
  const text = kept.toFixed(Math.min(20, Math.max(0, decimals)));
  return signed(isPlain ? String(Number(text)) : text);
}

/**
 * Numbers of one scale with the same decimals, and no more than they need: "995.5" and "1012.0" by
 * 0.02, "0" and "10" by 0.1.
 * @param {number[]} values
 * @param {number} step
 */
export function showNumbers(values, step) {
  const texts = values.map((value) => showNumber(value, step));
  if (!(step > 0) || texts.some((text) => text.includes("e"))) return texts;
  const spare = texts.map((text) => /\.\d*?(0*)$/.exec(text)?.[1].length ?? 0);
  const least = Math.min(...texts.flatMap((text, at) => (/\d/.test(text) ? [spare[at]] : [])));
  if (!(least > 0)) return texts;
  return texts.map((text) => (/\d/.test(text) ? text.slice(0, -least).replace(/\.$/, "") : text));
}

/**
 * A number that belongs to no others: three digits, the whole ones all.
 * @param {number} value
 */
export function showRough(value) {
  const size = Math.abs(value);
  if (!(size > 0)) return showNumber(value, 0);
  return showNumbers([value], Math.min(1, 10 ** (Math.floor(Math.log10(size)) + 1 - ROUGH)))[0];
}

/**
 * The step of numbers between two others: three digits of what these differ by; 0 where they do
 * not.
 * @param {number} low
 * @param {number} high
 */
export function stepBetween(low, high) {
  const apart = Math.abs(high - low);
  return apart > 0 && apart < Infinity ? 10 ** (Math.floor(Math.log10(apart)) + 1 - ROUGH) : 0;
}

/**
 * The smallest count of decimals whose unit is at most twice the step.
 * @param {number} value
 * @param {number} step
 */
function decimalsOf(value, step) {
  if (step > 0) return Math.ceil(-Math.log10(step) - 0.3);
  return value === 0 ? 0 : ALONE - 1 - Math.floor(Math.log10(Math.abs(value)));
}

/**
 * With a minus sign that is as wide as a plus; 0 has none.
 * @param {string} text
 */
function signed(text) {
  return (/[1-9]/.test(text) ? text : text.replace("-", "")).replaceAll("-", "−");
}
