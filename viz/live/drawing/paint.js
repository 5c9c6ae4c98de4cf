import { decadeTicks, labelledTicks } from "../elements/axis.js";
import { drawOwnWords } from "./inner_words.js";
import { MAPS } from "./maps.js";

/** @import { Fields } from "../values/fields.js" */
/** @import { ValuesHeader } from "../types.d.ts" */

export const STEPS = 256;
const BAR = { gap: 18, width: 17, above: 34, below: 16 };
/** Pixels per point of the letters that a picture of 900 pixels has. */
const LETTERS = 11.5 / 900;

/**
 * Colours by value: 256 from low to high as 0xAABBGGRR, those beyond the ends, of points without a
 * value, and where there is no field. In steps there is one for each.
 * @typedef {object} Ramp
 * @property {Uint32Array} table
 * @property {Uint32Array} steps
 * @property {number} under
 * @property {number} over
 * @property {number} bad
 * @property {number} ground
 */

/**
 * What a picture's colours mean; `note` stands in the map's corner. Colours in steps have the edges
 * of these, and may have names.
 * @typedef {object} Bar
 * @property {Ramp} ramp
 * @property {[number, number]} limits
 * @property {boolean} log
 * @property {string} units
 * @property {string} [note]
 * @property {number[]} [edges]
 * @property {string[]} [names]
 */

/** @type {Map<string, Ramp>} */
const ramps = new Map();

/**
 * The colours of a map that readers can choose, or of the picture's own; the same object for the
 * same colours.
 * @param {ValuesHeader["colours"]} own
 * @param {string | null} name
 * @returns {Ramp}
 */
export function rampOf(own, name) {
  const { table, under, over, bad, ground, edges } = own;
  const key = [name, table, under, over, bad, ground, edges.length].join();
  const known = ramps.get(key) ?? newRamp(own, name);
  ramps.set(key, known);
  return known;
}

/**
 * @param {ValuesHeader["colours"]} own
 * @param {string | null} name
 * @returns {Ramp}
 */
function newRamp(own, name) {
  const stops = name && MAPS[name] ? bytesOfHex(MAPS[name]) : bytesOfBase64(own.table);
  const count = stops.length / 3;
  const table = Uint32Array.from({ length: STEPS }, (_, at) => {
    const place =
      own.edges.length && !name
        ? Math.floor((at / STEPS) * count)
        : (at / (STEPS - 1)) * (count - 1);
    const low = Math.min(count - 1, Math.floor(place));
    const high = Math.min(count - 1, low + 1);
    const mixed = [0, 1, 2].map((part) =>
      Math.round(
        stops[3 * low + part] + (place - low) * (stops[3 * high + part] - stops[3 * low + part]),
      ),
    );
    return colour(mixed);
  });
  const ends = name
    ? { under: table[0], over: table[STEPS - 1] }
    : {
        under: colour(bytesOfHex(own.under.slice(1))),
        over: colour(bytesOfHex(own.over.slice(1))),
      };
  const steps = Uint32Array.from({ length: own.edges.length ? count : 0 }, (_, at) =>
    colour(stops.subarray(3 * at, 3 * at + 3)),
  );
  const [bad, ground] = [own.bad, own.ground ?? own.bad].map((hex) =>
    colour(bytesOfHex(hex.slice(1))),
  );
  return { table, steps, ...ends, bad, ground };
}

/**
 * The colour of each value, by the limits of a scale that may be logarithmic.
 * @param {ArrayLike<number>} values
 * @param {Ramp} ramp
 * @param {[low: number, high: number]} limits
 * @param {boolean} log
 */
export function coloursOf(values, { table, under, over, bad }, [low, high], log) {
  const scale = log ? Math.log : (/** @type {number} */ v) => v;
  const first = scale(low);
  const factor = STEPS / (scale(high) - first || 1);
  const found = new Uint32Array(values.length); // from() with a function is ten times slower
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at];
    if (Number.isNaN(value)) found[at] = bad;
    else if (value < low) found[at] = under;
    else if (value > high) found[at] = over;
    else found[at] = table[Math.min(STEPS - 1, Math.floor((scale(value) - first) * factor))];
  }
  return found;
}

/**
 * The colour of each value where colours are steps: from its lower edge on, to the upper one.
 * @param {ArrayLike<number>} values
 * @param {Ramp} ramp
 * @param {number[]} edges
 */
export function coloursBetween(values, { steps, under, over, bad }, edges) {
  const found = new Uint32Array(values.length);
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at];
    let step = -1;
    while (step + 1 < edges.length && value >= edges[step + 1]) step += 1;
    if (Number.isNaN(value)) found[at] = bad;
    else found[at] = step < 0 ? under : step < steps.length ? steps[step] : over;
  }
  return found;
}

/**
 * A picture with its field in other colours: the picture itself around the map, the field, what
 * lies over it, and a colour bar of its own.
 * @param {ImageBitmap} picture
 * @param {Fields} fields
 * @param {Uint32Array[]} colours of each field's points
 * @param {Bar} bar
 */
export function repainted(picture, fields, colours, bar) {
  const { header } = fields;
  const [left, top, right, bottom] = header.box;
  const canvas = new OffscreenCanvas(picture.width, picture.height);
  const context = canvas.getContext("2d");
  if (!context) return canvas;
  context.drawImage(picture, 0, 0);
  const image = new ImageData(right - left, bottom - top);
  const pixels = new Uint32Array(image.data.buffer);
  pixels.fill(bar.ramp.ground);
  header.fields.forEach((_, number) => {
    fields.pixels(number).paint(pixels, colours[number]);
  });
  context.putImageData(image, left, top);
  for (const { image: over, box } of fields.overlay ?? []) context.drawImage(over, box[0], box[1]);
  const plane = { left, top, width: right - left, height: bottom - top };
  drawOwnWords(context, header.words ?? [], plane);
  drawBar(context, header, bar);
  if (bar.note) drawNote(context, bar.note, left, top, lettersOf(header));
  return canvas;
}

/**
 * @param {OffscreenCanvasRenderingContext2D} context
 * @param {ValuesHeader} header
 * @param {Bar} bar
 */
function drawBar(context, { box, size }, { ramp, limits, log, units }) {
  const [, top, right, bottom] = box;
  const [left, height] = [right + BAR.gap, bottom - top];
  context.fillStyle = "white";
  context.fillRect(right + 4, top - BAR.above, size[0] - right, height + BAR.above + BAR.below);
  const image = new ImageData(BAR.width, height);
  const pixels = new Uint32Array(image.data.buffer);
  for (let row = 0; row < height; row += 1) {
    const at = Math.floor(((height - 1 - row) / height) * STEPS);
    pixels.fill(ramp.table[at], row * BAR.width, (row + 1) * BAR.width);
  }
  context.putImageData(image, left, top);
  context.strokeStyle = "#5b646d";
  context.lineWidth = 1;
  context.strokeRect(left - 0.5, top - 0.5, BAR.width + 1, height + 1);
  const letters = lettersOf({ size });
  Object.assign(context, { fillStyle: "#1b1f24", font: `${letters}px sans-serif` });
  context.textBaseline = "middle";
  const scale = log ? Math.log : (/** @type {number} */ v) => v;
  const [low, high] = limits.map(scale);
  for (const [value, text] of log
    ? decadeTicks(...limits)
    : labelledTicks(limits[0], limits[1], 6)) {
    const y = bottom - ((scale(value) - low) / (high - low)) * height;
    context.fillRect(left + BAR.width, y - 0.5, 4, 1);
    context.fillText(text, left + BAR.width + 7, y);
  }
  context.textAlign = context.measureText(units).width > size[0] - left ? "right" : "left";
  context.fillText(units, context.textAlign === "right" ? size[0] - 4 : left, top - 1.4 * letters);
}

/** @param {Pick<ValuesHeader, "size">} header */
function lettersOf({ size }) {
  return Math.max(8, Math.round(size[0] * LETTERS));
}

/**
 * @param {OffscreenCanvasRenderingContext2D} context
 * @param {string} note
 * @param {number} left
 * @param {number} top
 * @param {number} letters
 */
function drawNote(context, note, left, top, letters) {
  context.font = `${letters}px sans-serif`;
  Object.assign(context, { textAlign: "left", textBaseline: "top", fillStyle: "#fffffff0" });
  context.fillRect(left + 4, top + 4, context.measureText(note).width + 10, letters + 8);
  context.fillStyle = "#1b1f24";
  context.fillText(note, left + 9, top + 8);
}

/** @param {ArrayLike<number>} parts red, green, blue */
function colour(parts) {
  return ((255 << 24) | (parts[2] << 16) | (parts[1] << 8) | parts[0]) >>> 0;
}

/** @param {string} text */
function bytesOfHex(text) {
  return Uint8Array.from({ length: text.length / 2 }, (_, at) =>
    Number.parseInt(text.slice(2 * at, 2 * at + 2), 16),
  );
}

/** @param {string} text */
function bytesOfBase64(text) {
  return Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
}
