import { timeLabel } from "../elements/valid_time.js";
import { csvLine, csvNote } from "./csv.js";

/** @import { Fields } from "../values/fields.js" */
/** @import { Grid } from "../values/grid.js" */
/** @import { Painted } from "../drawing/looks.js" */
/** @import { FieldFacts, GridAxis } from "../types.d.ts" */

const AT_ONCE_MS = 40;

/**
 * The values of a picture as CSV: a line per kept point, field after field, under lines with "#"
 * that say what they are. `part` are the pixels of the picture that are seen (left, top, right,
 * bottom), null for all points; of a painted difference its values are saved. Returns the text in
 * pieces, and how many points it has.
 * @param {Fields} fields
 * @param {string} run
 * @param {number[] | null} part
 * @param {Painted | null} painted
 */
export async function tableOf(fields, run, part, painted) {
  const difference = painted?.difference;
  const { product, stream, time, fields: facts } = fields.header;
  const [{ facts: base, onEarth }] = fields.grids;
  const many = facts.length > 1;
  const dimensions = [...new Set(fields.grids.flatMap(dimensionsOf))].filter(Boolean);
  const titles = [
    ...(onEarth || base.along ? ["lon", "lat"] : []),
    ...(onEarth ? [] : [titleOf(base.x, "x", base.units), titleOf(base.y, "y", base.units)]),
    ...dimensions.map((name) => `${name} index`),
  ];
  const ends = titles.map(() => [Infinity, -Infinity]);
  const pieces = [];
  let [count, until] = [0, 0];
  for (const [number, field] of facts.entries()) {
    const grid = fields.grids[number];
    for (let row = 0; row < field.ny; row += 1) {
      if (performance.now() > until) {
        await new Promise((done) => setTimeout(done)); // the page goes on meanwhile
        until = performance.now() + AT_ONCE_MS;
      }
      let lines = "";
      for (let column = 0; column < field.nx; column += 1) {
        const point = row * field.nx + column;
        const at = grid.of(point);
        if (part && !(at && isWithin(part, fields.pixel(...at)))) continue;
        const { lat, lon, x, y } = grid.placeOf(point) ?? {};
        const numbers = [
          ...(onEarth || base.along ? [lon, lat] : []).map((one) => one && +one.toFixed(5)),
          ...(onEarth ? [] : [x, y]).map((one) => one && +one.toPrecision(10)),
          ...indexesOf(grid, dimensions, row, column),
        ];
        const cells = numbers.map((one, which) => {
          if (one === undefined) return "";
          ends[which] = [Math.min(ends[which][0], one), Math.max(ends[which][1], one)];
          return String(one);
        });
        if (many) cells.unshift(field.label || `${number + 1}`);
        lines += csvLine([
          ...cells,
          textOf(difference ? difference.values[number][point] : fields.value(number, point)),
        ]);
        count += 1;
      }
      pieces.push(lines);
    }
  }
  const seen = titles.flatMap((title, which) => {
    const [low, high] = ends[which];
    // Across the seam of 180 degrees two numbers would say too much.
    return high < low || (title === "lon" && high - low > 180) ? [] : `${title} ${low} to ${high}`;
  });
  const words = [
    `run: ${run}`,
    `product: ${product}, stream ${stream}`,
    `valid time: ${timeLabel(time)} (${time})`,
    ...facts.map(describe),
    ...(difference ? [`difference: minus ${painted.minus}`, difference.note].filter(Boolean) : []),
    part ? `only the part in sight: ${seen.join(", ")}` : "all points that are kept",
    ...(many ? ["where fields overlap, the last one is drawn"] : []),
    ...(base.kind === "pixels" ? ["a place is that of a pixel that shows the point"] : []),
  ];
  const shown = difference ? `difference of ${withUnits(facts[0])}` : withUnits(facts[0]);
  const columns = [...titles, shown];
  if (many) columns.unshift("field");
  pieces.unshift(...words.map(csvNote), csvLine(columns));
  return { pieces, count };
}

/**
 * @param {FieldFacts} field
 * @param {number} number
 */
function describe(field, number) {
  const { label, variable, long_name, level, stride, scale, transform, printed } = field;
  const step =
    transform === "log"
      ? `${(100 * Math.expm1(scale)).toPrecision(3)} % of the value`
      : `${+scale.toPrecision(4)} ${printed}`;
  const which = label || (number ? `field ${number + 1}` : "values");
  return [
    `${which}: ${withUnits(field)}`,
    ...[long_name, level].filter((one) => one && one !== variable),
    `step of quantisation ${step}`,
    stride > 1 ? `1 of ${stride} points along each side` : "every point",
  ].join("; ");
}

/** @param {Grid} grid */
function dimensionsOf({ facts: { x, y } }) {
  return [y, x].map(({ dimension, index }) => (index && dimension) || "");
}

/**
 * The file's own numbers of a point by dimension.
 * @param {Grid} grid
 * @param {string[]} dimensions
 * @param {number} row
 * @param {number} column
 */
function indexesOf(grid, dimensions, row, column) {
  const { x, y } = grid.facts;
  const own = dimensionsOf(grid);
  return dimensions.map((name) => {
    const [{ index }, at] = name === own[0] ? [y, row] : [x, column];
    return index && own.includes(name) ? index[0] + index[1] * at : undefined;
  });
}

/**
 * @param {GridAxis} axis
 * @param {string} letter
 * @param {string} [units]
 */
function titleOf(axis, letter, units) {
  return withUnits({ variable: axis.name || letter, printed: axis.units || units || "" });
}

/** @param {Pick<FieldFacts, "variable" | "printed">} field */
function withUnits({ variable, printed }) {
  return printed ? `${variable} (${printed})` : variable;
}

/**
 * @param {number[]} part
 * @param {number[]} at
 */
function isWithin([left, top, right, bottom], [across, down]) {
  return across >= left && across <= right && down >= top && down <= bottom;
}

/** @param {number} value */
function textOf(value) {
  if (Number.isNaN(value)) return "nan";
  return Number.isFinite(value) ? String(+value.toPrecision(10)) : value > 0 ? "inf" : "-inf";
}
