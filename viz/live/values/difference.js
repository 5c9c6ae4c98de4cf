import { distance } from "./place.js";

/** @import { Fields } from "./fields.js" */
/** @import { Grid } from "./grid.js" */

/** The share of points that may lie beyond the colours of a difference. */
const BEYOND = 0.002;
/** Parts of a plane along each side, between whose corners another plane's coordinates are linear. */
const NODES = 32;

/**
 * What two pictures' values differ by, on the points of the first; NaN where one has none.
 * @typedef {object} Difference
 * @property {Float64Array[]} values of each field, point by point
 * @property {number} mean
 * @property {number} rms
 * @property {number} bound of symmetric limits, nearly all points lie within
 * @property {string} note on grids that are not the same, else ""
 */

/**
 * The first picture's values minus the second's, each at the nearest point of the second's grid.
 * @param {Fields} first
 * @param {Fields} second
 * @returns {Difference}
 */
export function differenceOf(first, second) {
  const known = differences.get(first);
  if (known?.second.deref() === second) return known.difference;
  const difference = newDifference(first, second);
  differences.set(first, { second: new WeakRef(second), difference });
  return difference;
}

/**
 * By the first picture's values: the latest one that was asked for. It keeps no second one: each
 * frame minus the one before would keep all frames.
 * @type {WeakMap<Fields, { second: WeakRef<Fields>, difference: Difference }>}
 */
const differences = new WeakMap();

/**
 * @param {Fields} first
 * @param {Fields} second
 * @returns {Difference}
 */
function newDifference(first, second) {
  const same = first.header.fields.every(
    ({ grid }, number) => grid === second.header.fields[number]?.grid,
  );
  const coarse = !same && spacing(second) > 1.01 * spacing(first);
  const there = coarse ? minus(second, first, -1) : [];
  const values = same
    ? first.header.fields.map((_, number) => first.minus(second, number))
    : coarse
      ? nearestOf(there, second, first)
      : minus(first, second, 1);
  const note = `other grid: on the points of the ${coarse ? "other, coarser" : "coarser"} one`;
  const sums = summary((coarse ? there : values)[0]);
  return { values, ...sums, note: same ? "" : note };
}

/**
 * Mean, root mean square and bound of the finite ones. Their sizes are counted by leading bits, each
 * count with its largest: ten times as fast as to sort them.
 * @param {Float64Array} values
 */
function summary(values) {
  const words = new Uint32Array(values.buffer);
  const counts = new Uint32Array(2 ** 17);
  const largest = new Float64Array(counts.length);
  let [known, sum, squares, most] = [0, 0, 0, 0];
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at];
    if (!Number.isFinite(value)) continue;
    const size = Math.abs(value);
    const bits = (words[2 * at + 1] & 0x7fffffff) >>> 14;
    known += 1;
    sum += value;
    squares += value * value;
    counts[bits] += 1;
    if (size > largest[bits]) largest[bits] = size;
    if (size > most) most = size;
  }
  let bits = counts.length - 1;
  let beyond = Math.ceil((known - 1) * BEYOND);
  for (; beyond >= counts[bits]; bits -= 1) beyond -= counts[bits];
  const bound = rounded(largest[bits] || most || 1);
  return { mean: sum / known, rms: Math.sqrt(squares / known), bound };
}

/**
 * How far neighbours in the middle of a picture's lowest field are apart.
 * @param {Fields} fields
 */
function spacing({ grids: [grid], header }) {
  const { nx, ny } = header.fields[0];
  const middle = Math.floor(ny / 2) * nx + Math.floor(nx / 2);
  const [here, next] = [grid.of(middle), grid.of(middle ? middle - 1 : 0)];
  return here && next ? distance(grid.place(...here), grid.place(...next)) : 0;
}

/**
 * The values of one picture minus the nearest ones of another, on the first's points.
 * @param {Fields} first
 * @param {Fields} second
 * @param {1 | -1} sign
 */
function minus(first, second, sign) {
  const to = crossing(first.grids[0], second.grids[0]);
  return first.header.fields.map((_, number) => {
    const mine = first.all(number);
    return atPoints(first, number, (x, y, point) => {
      const at = to(x, y);
      return sign * (mine[point] - ((at && second.at(...at)?.value) ?? NaN));
    });
  });
}

/**
 * What is known on the points of one picture, at the nearest of them for each point of another.
 * @param {Float64Array[]} known of each field of `of`
 * @param {Fields} of
 * @param {Fields} on
 */
function nearestOf(known, of, on) {
  const to = crossing(on.grids[0], of.grids[0]);
  return on.header.fields.map((_, number) =>
    atPoints(on, number, (x, y) => {
      const at = to(x, y);
      const found = at && of.at(...at);
      return found ? known[found.number][found.point] : NaN;
    }),
  );
}

/**
 * @param {Fields} fields
 * @param {number} number
 * @param {(x: number, y: number, point: number) => number} value
 */
function atPoints({ grids, header }, number, value) {
  const { nx, ny } = header.fields[number];
  const found = new Float64Array(nx * ny).fill(NaN);
  for (let point = 0; point < found.length; point += 1) {
    const at = grids[number].of(point);
    if (at) found[point] = value(at[0], at[1], point);
  }
  return found;
}

/**
 * From x and y of one plane to those of another: on meshes, where each place is searched for, exact
 * at nodes and bilinear between them.
 * @param {Grid} from
 * @param {Grid} to
 * @returns {(x: number, y: number) => [number, number] | null}
 */
function crossing(from, to) {
  const exact = (/** @type {number} */ x, /** @type {number} */ y) =>
    to.coordinates(from.place(x, y));
  if (!from.facts.mesh && !to.facts.mesh) return exact;
  const { x: across, y: down, extent } = from.facts;
  const [x0, x1] = extent ?? across.edges ?? [];
  const [y0, y1] = extent?.slice(2) ?? down.edges ?? [];
  const nodes = Array.from({ length: (NODES + 1) ** 2 }, (_, at) =>
    exact(
      x0 + ((at % (NODES + 1)) / NODES) * (x1 - x0),
      y0 + (Math.floor(at / (NODES + 1)) / NODES) * (y1 - y0),
    ),
  );
  return (x, y) => {
    const [u, v] = [((x - x0) / (x1 - x0)) * NODES, ((y - y0) / (y1 - y0)) * NODES];
    const column = Math.min(NODES - 1, Math.max(0, Math.floor(u)));
    const row = Math.min(NODES - 1, Math.max(0, Math.floor(v)));
    const at = row * (NODES + 1) + column;
    const [a, b, c, d] = [nodes[at], nodes[at + 1], nodes[at + NODES + 1], nodes[at + NODES + 2]];
    if (!a || !b || !c || !d) return exact(x, y);
    const [right, below] = [u - column, v - row];
    const mixed = (/** @type {0 | 1} */ part) =>
      (a[part] * (1 - right) + b[part] * right) * (1 - below) +
      (c[part] * (1 - right) + d[part] * right) * below;
    return [mixed(0), mixed(1)];
  };
}

/**
 * The next of a few steps times a power of ten.
 * @param {number} value
 */
function rounded(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 1.5, 2, 3, 5, 7, 10].find((step) => step * power >= value * 0.999) ?? 10);
}
