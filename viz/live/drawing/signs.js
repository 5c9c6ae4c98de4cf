/** @import { Context } from "./draw_surroundings.js" */
/** @import { LegendEntry } from "../types.d.ts" */

const INK = "#1b1f24";
/** The letters that sizes are for; widths of a line and of a mark, and the gap after them. */
const [LETTERS, LONG, SHORT, GAP] = [8, 12, 7, 3.5];
/** How much wider an edge is than a line: a dark one below a pale line, and a light one. */
const [BAND, RIM] = [2.6, 1.4];
/** Luminance of the page's ground, dark and light, and the least contrast with it. */
const [DARK, LIGHT, LEAST] = [0.01, 1, 2];

/**
 * A part of a sign: a line, or with `fill` an area; "" is the sign's own colour.
 * @typedef {{ d: string, width?: number, dash?: number[], fill?: string, edge?: string }} Part
 */

/** @type {Part} */
const LINE = { d: "M0 0H12" };
const DOT = "M1 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0Z";

/**
 * As viz/drawing/legend.py has them: from the left end and the middle of the letters, down.
 * @type {Record<string, Part[]>}
 */
const SIGNS = {
  line: [LINE],
  dashed: [{ ...LINE, dash: [3.3, 1.5] }],
  dotted: [{ ...LINE, width: 1.3, dash: [1.3, 1.7] }],
  lines: [{ d: "M0-1.7H12" }, { d: "M0 1.7H12", dash: [3.3, 1.5] }],
  track: [
    { ...LINE, width: 1.3 },
    { d: "M4.3 0a1.7 1.7 0 1 0 3.4 0a1.7 1.7 0 1 0-3.4 0Z", fill: "#fff", edge: INK, width: 1 },
  ],
  barb: [{ d: "M0 2.2H12M4.4 2.2 3.2-2.8" }, { d: "M0 2.2 .2-2.8 2.6 2.2Z", fill: "" }],
  arrow: [
    { d: "M0 0H9", width: 1.2 },
    { d: "M12 0 7.6-2.3V2.3Z", fill: "" },
  ],
  stream: [LINE, { d: "M8 0 4.6-1.8V1.8Z", fill: "" }],
  lowest: [{ d: "M.4-2.5H6.6L3.5 3Z", fill: "#fff", edge: INK, width: 1 }],
  highest: [{ d: "M.4 2.5H6.6L3.5-3Z", fill: "#fff", edge: INK, width: 1 }],
  triangle: [{ d: "M.8 2.3H6.2L3.5-2.7Z", fill: INK }],
  dot: [{ d: DOT, fill: INK }],
  circle: [{ d: DOT, fill: "#fff", edge: INK, width: 0.9 }],
  ring: [{ d: DOT, edge: INK, width: 1.3 }],
  star: [
    {
      d: "M3.5-4.3 4.5-1.3H7.6L5.1.5 6.1 3.5 3.5 1.7.9 3.5 1.9.5-.6-1.3H2.5Z",
      fill: "#e3120b",
    },
  ],
  box: [{ d: "M.6-2.7H11.4V2.7H.6Z", width: 1.2 }],
  shade: [
    { d: "M0 2.8V-2.8H12Z", fill: "#dcdfe2" },
    { d: "M0 2.8H12V-2.8Z", fill: "#6b747d" },
  ],
};
const NARROW = new Set(["lowest", "highest", "triangle", "dot", "circle", "ring", "star"]);

/**
 * Draw the sign of an entry and return how much room it takes: none for the text of an older run.
 * @param {Context} context
 * @param {LegendEntry} entry
 * @param {number} left
 * @param {number} middle
 * @param {number} letter
 * @param {string} ink the page's colour of letters
 */
export function drawSign(context, { sign = "", colour = INK }, left, middle, letter, ink) {
  const parts = SIGNS[sign];
  if (!parts) return 0;
  const size = letter / LETTERS;
  context.save();
  context.translate(left, middle);
  context.scale(size, size);
  // What is hardly seen on the page has an edge, as on the picture.
  const [light, letters] = [luminance(context, colour), luminance(context, ink)];
  const ground = letters > 0.5 ? DARK : LIGHT;
  const contrast = (Math.max(light, ground) + 0.05) / (Math.min(light, ground) + 0.05);
  for (const part of parts) {
    const isOwn = !part.fill || part.fill === INK; // others are seen on any ground
    if (contrast < LEAST && isOwn) stroke(context, part, ink, letters > 0.5 ? RIM : BAND);
  }
  for (const part of parts) {
    const { d, fill, edge = colour, width } = part;
    context.fillStyle = fill || colour;
    if (fill !== undefined) context.fill(new Path2D(d));
    if (fill === undefined || width) stroke(context, part, edge, 0);
  }
  context.restore();
  return ((NARROW.has(sign) ? SHORT : LONG) + GAP) * size;
}

/**
 * @param {Context} context
 * @param {Part} part
 * @param {string} colour
 * @param {number} more
 */
function stroke(context, { d, width = 0.9, dash = [] }, colour, more) {
  context.setLineDash(more ? [] : dash);
  Object.assign(context, { strokeStyle: colour, lineWidth: width + more, lineJoin: "round" });
  context.stroke(new Path2D(d));
}

/**
 * Relative luminance, from 0 (black) to 1 (white).
 * @param {Context} context
 * @param {string} colour
 */
function luminance(context, colour) {
  context.fillStyle = colour;
  const hex = String(context.fillStyle); // canvases write all colours alike
  const parts = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255);
  const [red, green, blue] = parts.map((part) => ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
