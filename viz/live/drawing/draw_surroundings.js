import { decadeTicks, labelledTicks } from "../elements/axis.js";
import { showNumber, showNumbers } from "../elements/digits.js";
import { drawSign } from "./signs.js";

/** @import { Fields } from "../values/fields.js" */
/** @import { Bar } from "./paint.js" */
/** @import { Box, LegendEntry } from "../types.d.ts" */

/** Letters, in parts of the page's; the page's smallest are 12 px. */
const LETTER = 0.86;
/** Room around the plane in letters: above, right, below, left. */
const ROOM = { above: 3.75, right: 6.4, below: 2, left: 4.6, units: 1.6, line: 1.35 };
/** Letters above the plane: the title, the time with the units, and the bar's upper arrow. */
const [TITLE, TIME, ARROW] = [2.35, 0.9, 0.45];
const SAMPLES = 48;

/**
 * What stands around the plane of a picture: words, axes, the colour bar; `fields` are of a picture
 * with the same plane.
 * @typedef {object} Around
 * @property {Fields} fields
 * @property {string} title
 * @property {string} subtitle
 * @property {string} when
 * @property {string} lead when the model began and how long ago
 * @property {(LegendEntry | string)[]} legend
 * @property {Bar | null} bar
 * @property {boolean[]} beyond whether there are values below and above the colours' limits
 */

/** @typedef {{ plane: Box, frame: Box, letter: number }} Layout in pixels of a canvas */

/**
 * Where the plane lies on a canvas, and the whole picture of which it is a part, seen through a
 * lens.
 * @param {Around} around
 * @param {number} width
 * @param {number} height
 * @param {{ scale: number, x: number, y: number }} lens
 * @param {number} letter
 * @returns {Layout}
 */
export function layoutOf({ fields, legend }, width, height, lens, letter) {
  const { box, size } = fields.header;
  const [grid] = fields.grids;
  const hasUnits = !grid.onEarth || grid.isSection;
  const left = (ROOM.left + (hasUnits ? ROOM.units : 0)) * letter;
  const top = ROOM.above * letter;
  const lines = legend.length * ROOM.line + ROOM.below;
  const [across, down] = [box[2] - box[0], box[3] - box[1]];
  const room = [width - left - ROOM.right * letter, height - top - lines * letter];
  const fit = Math.max(1e-3, Math.min(room[0] / across, room[1] / down));
  const plane = {
    left: left + (room[0] - fit * across) / 2,
    top: top + (room[1] - fit * down) / 2,
    width: fit * across,
    height: fit * down,
  };
  const whole = fit * lens.scale;
  const place = (/** @type {number} */ at, /** @type {number} */ side) => {
    const [first, length] = side ? [plane.top, plane.height] : [plane.left, plane.width];
    // The lens looks at the whole picture, which lies around the plane.
    const middle = first - box[side] * fit + 0.5 * size[side] * fit;
    const begin = middle - at * size[side] * whole;
    const least = first + length - box[side + 2] * whole;
    return Math.min(first - box[side] * whole, Math.max(least, begin));
  };
  const frame = {
    left: place(lens.x, 0),
    top: place(lens.y, 1),
    width: size[0] * whole,
    height: size[1] * whole,
  };
  return { plane, frame, letter };
}

/**
 * The letters of a canvas of that style, in pixels of the page.
 * @param {CSSStyleDeclaration} style
 */
export function letterOf(style) {
  return Math.max(11, LETTER * Number.parseFloat(style.fontSize));
}

/**
 * Of a canvas on the screen, or off it.
 * @typedef {CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D} Context
 */

/**
 * The first one of some texts that has room; the last one is cut where none has.
 * @param {Context} context
 * @param {string[]} texts
 * @param {number} room
 */
function fitting(context, texts, room) {
  const fits = (/** @type {string} */ text) => context.measureText(text).width <= room;
  const found = texts.find(fits);
  if (found !== undefined) return found;
  let text = texts[texts.length - 1];
  while (text && !fits(`${text}…`)) text = text.slice(0, -1).trimEnd();
  return text && `${text}…`;
}

/**
 * Draw the time, which changes with each picture: further left where the plane is narrow, and with
 * as much beside it as there is room for.
 * @param {Context} context
 * @param {Around} around
 * @param {Layout} layout
 * @param {string} ink
 */
export function drawTime(context, { when, lead, bar }, { plane, letter }, ink) {
  context.font = `400 ${letter}px system-ui, sans-serif`;
  Object.assign(context, { fillStyle: ink, textAlign: "left", textBaseline: "alphabetic" });
  const end = unitsLeft(context, bar?.units ?? "", plane, letter) - letter;
  const [note, since] = [bar?.note, lead.split("  ·  ").at(-1)];
  const texts = [[when, note, lead], [when, note, since], [when, note], [when]].map((parts) =>
    parts.filter(Boolean).join("  ·  "),
  );
  const room = end - plane.left;
  const inside = texts.find((one) => context.measureText(one).width <= room);
  const short = when.replace(/^(\S+ \d\d:\d\d):\d\d UTC$/, "$1 UTC");
  const text = inside ?? fitting(context, [when, short], end - 2);
  const left = Math.max(2, Math.min(plane.left, end - context.measureText(text).width));
  // Not into the uppermost label left of the plane.
  context.clearRect(0, plane.top - 2 * letter, plane.left, 1.35 * letter);
  context.clearRect(plane.left, plane.top - 2 * letter, room, 1.6 * letter);
  context.fillText(text, left, plane.top - TIME * letter);
}

/**
 * Where the units above the colour bar begin: over the bar, or further left where they are long.
 * @param {Context} context
 * @param {string} units
 * @param {Box} plane
 * @param {number} letter
 */
function unitsLeft(context, units, plane, letter) {
  const most = context.canvas.width - context.measureText(units).width - 3;
  return Math.min(plane.left + plane.width + 0.9 * letter, most);
}

/**
 * Draw all other words, axes, legend and colour bar.
 * @param {Context} context
 * @param {Around} around
 * @param {Layout} layout
 * @param {string} ink
 */
export function drawAround(context, around, layout, ink) {
  const { plane, letter } = layout;
  const [right, bottom] = [plane.left + plane.width, plane.top + plane.height];
  const font = (/** @type {string} */ weight) => `${weight} ${letter}px system-ui, sans-serif`;
  const most = context.canvas.width - plane.left - 4;
  Object.assign(context, { strokeStyle: ink, lineWidth: Math.max(1, letter / 12) });
  context.strokeRect(plane.left, plane.top, plane.width, plane.height);
  Object.assign(context, { fillStyle: ink, textAlign: "left", textBaseline: "alphabetic" });
  context.font = font("600");
  const title = fitting(context, [around.title], most);
  context.fillText(title, plane.left, plane.top - TITLE * letter);
  const beside = context.measureText(title).width + letter;
  Object.assign(context, { font: font("400") });
  const subtitle = fitting(context, [around.subtitle], most - beside);
  context.fillText(subtitle, plane.left + beside, plane.top - TITLE * letter);
  const barLeft = right + 0.9 * letter;
  const units = around.bar?.units ?? "";
  context.fillText(units, unitsLeft(context, units, plane, letter), plane.top - TIME * letter);
  drawAxis(context, around, layout, 0);
  drawAxis(context, around, layout, 1);
  if (around.bar) drawBar(context, around.bar, around.beyond, plane, barLeft, letter);
  Object.assign(context, { textAlign: "left", textBaseline: "alphabetic" });
  around.legend.forEach((given, at) => {
    const entry = typeof given === "string" ? { text: given } : given; // of an older run
    const y = bottom + (ROOM.below + ROOM.line * (at + 0.6)) * letter;
    const sign = drawSign(context, entry, plane.left, y - 0.35 * letter, letter, ink);
    context.fillText(fitting(context, [entry.text], most - sign), plane.left + sign, y);
  });
}

/**
 * Marks and labels below the plane, or left of it.
 * @param {Context} context
 * @param {Around} around
 * @param {Layout} layout
 * @param {0 | 1} side
 */
function drawAxis(context, { fields }, { plane, frame, letter }, side) {
  const length = side ? plane.height : plane.width;
  const [begin, edge] = side ? [plane.top, plane.left] : [plane.left, plane.top + plane.height];
  context.textAlign = side ? "right" : "center";
  context.textBaseline = side ? "middle" : "top";
  const count = Math.max(2, Math.floor(length / ((side ? 4 : 5) * letter)));
  let last = -Infinity;
  for (const [share, text] of edgeLabels(fields, plane, frame, side, count)) {
    const at = begin + share * length;
    const half = side ? 0.6 * letter : 0.55 * context.measureText(text).width;
    if (share < 0 || share > 1 || Math.abs(at - last) < 2.2 * half) continue;
    last = at;
    if (side) context.fillRect(edge - 0.35 * letter, at, 0.35 * letter, Math.max(1, letter / 12));
    else context.fillRect(at, edge, Math.max(1, letter / 12), 0.35 * letter);
    if (side) context.fillText(text, edge - 0.5 * letter, at, edge - 0.5 * letter - 2);
    else context.fillText(text, at, edge + 0.5 * letter);
  }
}

/**
 * Labels along the lower or left edge of what is seen, each with its part of the way.
 * @param {Fields} fields
 * @param {Box} plane
 * @param {Box} frame
 * @param {0 | 1} side
 * @param {number} count
 * @returns {[share: number, label: string][]}
 */
export function edgeLabels(fields, plane, frame, side, count) {
  const [grid] = fields.grids;
  const { size } = fields.header;
  const onEarth = grid.onEarth && !grid.isSection;
  const axis = side ? grid.facts.y : grid.facts.x;
  const units = axis.units ?? grid.facts.units ?? "";
  /** @type {[share: number, value: number][]} */
  const known = [];
  for (let step = 0; step <= SAMPLES; step += 1) {
    const share = (step + (step === 0 ? 1e-3 : step === SAMPLES ? -1e-3 : 0)) / SAMPLES;
    const x = plane.left + (side ? 1e-3 : share) * plane.width;
    const y = plane.top + (side ? share : 1 - 1e-3) * plane.height;
    const at = fields.coordinates(
      ((x - frame.left) / frame.width) * size[0],
      ((y - frame.top) / frame.height) * size[1],
    );
    if (!at) continue;
    const place = onEarth ? grid.place(...at) : null;
    let value = place ? (side ? place.lat : place.lon) : at[side];
    if (value === undefined || !Number.isFinite(value)) continue;
    const before = known.at(-1)?.[1];
    if (onEarth && !side && before !== undefined) {
      value += 360 * Math.round((before - value) / 360);
    }
    known.push([share, value]);
  }
  if (known.length < 2) return [];
  const [low, high] = [Math.min, Math.max].map((end) => end(...known.map(([, value]) => value)));
  const metres = !onEarth && units === "m" && high - low >= 2000 ? 1000 : 1;
  const isLog = side === 1 && axis.log;
  const labelled = isLog
    ? decadeTicks(low, high)
    : labelledTicks(low / metres, high / metres, count);
  const values = labelled.map(([value]) => value * metres);
  const after = metres > 1 ? " km" : units ? ` ${units}` : "";
  const labels = values.flatMap((value, at) => {
    const text = onEarth ? degrees(value, side, values[1] - values[0]) : labelled[at][1] + after;
    return sharesOf(known, value).map((share) => /** @type {[number, string]} */ ([share, text]));
  });
  return labels.sort(([a], [b]) => a - b);
}

/**
 * Where a value lies between those that are known along the way; twice where they turn back, as
 * latitudes do beside a pole.
 * @param {[share: number, value: number][]} known
 * @param {number} value
 */
function sharesOf(known, value) {
  const found = [];
  for (let at = 1; at < known.length; at += 1) {
    const [[from, a], [to, b]] = [known[at - 1], known[at]];
    if (a <= value === b <= value) continue;
    found.push(from + ((value - a) / (b - a)) * (to - from));
  }
  return found;
}

/**
 * @param {number} value
 * @param {0 | 1} side
 * @param {number} step
 */
function degrees(value, side, step) {
  const turned = side ? value : value - 360 * Math.round(value / 360);
  const text = showNumbers([Math.abs(turned), step], step)[0];
  const isEdge = Number(text) === 0 || (!side && Number(text) === 180);
  return `${text}°${isEdge ? "" : (side ? "SN" : "WE")[turned > 0 ? 1 : 0]}`;
}

/**
 * @param {Context} context
 * @param {Bar} bar
 * @param {boolean[]} beyond
 * @param {Box} plane
 * @param {number} left
 * @param {number} letter
 */
function drawBar(context, bar, beyond, plane, left, letter) {
  const { ramp, edges = [] } = bar;
  const [bottom, width] = [plane.top + plane.height, 1.2 * letter];
  const table = edges.length ? ramp.steps : ramp.table;
  table.forEach((colour, step) => {
    const y = Math.round(bottom - ((step + 1) / table.length) * plane.height);
    const below = Math.round(bottom - (step / table.length) * plane.height);
    context.fillStyle = cssColour(colour);
    context.fillRect(left, y, width, below - y);
  });
  const ends = [
    [ramp.under, bottom, 1],
    [ramp.over, plane.top, -1],
  ];
  ends.forEach(([colour, y, down], at) => {
    if (!beyond[at]) return;
    context.fillStyle = cssColour(colour);
    context.beginPath();
    context.moveTo(left, y);
    context.lineTo(left + width, y);
    context.lineTo(left + width / 2, y + ARROW * letter * down);
    context.fill();
  });
  context.strokeRect(left, plane.top, width, plane.height);
  Object.assign(context, { textAlign: "left", textBaseline: "middle" });
  context.fillStyle = context.strokeStyle;
  for (const [share, text] of barLabels(bar, plane.height / letter)) {
    const y = bottom - share * plane.height;
    context.fillRect(left + width, y, 0.3 * letter, Math.max(1, letter / 12));
    context.fillText(text, left + width + 0.5 * letter, y, (ROOM.right - 2.6) * letter);
  }
}

/**
 * Labels of a colour bar, each with its part of the way up: of steps their names, or their edges,
 * which are equally far apart; every second, third, ... where there is no room for all.
 * @param {Bar} bar
 * @param {number} tall in letters
 * @returns {[share: number, label: string][]}
 */
export function barLabels({ limits, log, edges = [], names = [] }, tall) {
  const count = names.length || edges.length;
  if (count) {
    const texts = names.length ? names : edges.map((edge) => showNumber(edge, 0));
    const every = Math.ceil((1.3 * count) / tall);
    const steps = edges.length - 1;
    return texts.flatMap((text, at) => {
      const share = (names.length ? at + 0.5 : at) / steps;
      return at % every ? [] : [/** @type {[number, string]} */ ([share, text])];
    });
  }
  const scale = log ? Math.log : (/** @type {number} */ v) => v;
  const [low, high] = limits.map(scale);
  const most = Math.min(8, Math.max(2, Math.floor(tall / 3)));
  const labels = log ? decadeTicks(...limits) : labelledTicks(limits[0], limits[1], most);
  return labels.map(([value, text]) => [(scale(value) - low) / (high - low), text]);
}

/** @param {number} colour as 0xAABBGGRR */
function cssColour(colour) {
  return `rgb(${colour & 255} ${(colour >>> 8) & 255} ${(colour >>> 16) & 255})`;
}
