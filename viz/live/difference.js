/** @import { Fields } from "./fields.js" */
/** @import { Place } from "./types.d.ts" */

/** The share of points that may lie beyond the colours of a difference. */
const BEYOND = 0.002;

/**
 * What two pictures' values differ by, on the points of the first; NaN where one has none.
 * @typedef {object} Difference
 * @property {Float64Array[]} values of each field, point by point
 * @property {number} mean
 * @property {number} rms
 * @property {number} bound of symmetric limits, nearly all points lie within
 * @property {string} note on grids and units that are not the same, else ""
 */

/**
 * The first picture's values minus the second's, each at the nearest point of the second's grid.
 * @param {Fields} first
 * @param {Fields} second
 * @returns {Difference}
 */
export function differenceOf(first, second) {
  const same = first.header.fields.every(
    ({ grid }, number) => grid === second.header.fields[number]?.grid,
  );
  const coarse = !same && sizeOf(second) < sizeOf(first);
  const values = coarse ? onCoarser(first, second) : onFirst(first, second, same);
  const known = (coarse ? minus(second, first, -1)[0] : values[0]).filter(Number.isFinite);
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  const rms = Math.sqrt(known.reduce((sum, value) => sum + value * value, 0) / known.length);
  const sizes = known.map(Math.abs).sort();
  const bound = sizes[Math.floor((sizes.length - 1) * (1 - BEYOND))] || sizes.at(-1) || 1;
  const units = first.header.fields[0].units === second.header.fields[0].units;
  const note = [
    same ? "" : `other grid: on the points of the ${coarse ? "other, coarser" : "coarser"} one`,
    units ? "" : "the units differ",
  ];
  return { values, mean, rms, bound: rounded(bound), note: note.filter(Boolean).join("; ") };
}

/** @param {Fields} fields */
function sizeOf({ header }) {
  return header.fields[0].nx * header.fields[0].ny;
}

/**
 * @param {Fields} first
 * @param {Fields} second
 * @param {boolean} same whether their grids are
 */
function onFirst(first, second, same) {
  if (!same) return minus(first, second, 1);
  return first.header.fields.map((_, number) => {
    const theirs = second.all(number);
    return first.all(number).map((value, point) => value - theirs[point]);
  });
}

/**
 * At each point of the first the difference at the nearest point of the second.
 * @param {Fields} first
 * @param {Fields} second
 */
function onCoarser(first, second) {
  const there = minus(second, first, -1);
  return first.header.fields.map((_, number) =>
    atPoints(first, number, (place) => {
      const at = second.grids[0].coordinates(place);
      const found = at && second.at(...at);
      return found ? there[found.number][found.point] : NaN;
    }),
  );
}

/**
 * The values of one picture minus the nearest ones of another, on the first's points.
 * @param {Fields} first
 * @param {Fields} second
 * @param {1 | -1} sign
 */
function minus(first, second, sign) {
  return first.header.fields.map((_, number) => {
    const mine = first.all(number);
    return atPoints(first, number, (place, point) => {
      const at = second.grids[0].coordinates(place);
      return sign * (mine[point] - ((at && second.at(...at)?.value) ?? NaN));
    });
  });
}

/**
 * @param {Fields} fields
 * @param {number} number
 * @param {(place: Place, point: number) => number} value
 */
function atPoints({ grids, header }, number, value) {
  const grid = grids[number];
  const { nx, ny } = header.fields[number];
  return Float64Array.from({ length: nx * ny }, (_, point) => {
    const at = grid.of(point);
    return at ? value(grid.place(...at), point) : NaN;
  });
}

/**
 * The next of a few steps times a power of ten.
 * @param {number} value
 */
function rounded(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 1.5, 2, 3, 5, 7, 10].find((step) => step * power >= value * 0.999) ?? 10);
}
