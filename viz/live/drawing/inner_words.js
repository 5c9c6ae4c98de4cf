/** @import { Context } from "./draw_surroundings.js" */
/** @import { Box, InnerWords } from "../types.d.ts" */

/** Of the letters: the height of their box, its edge, and how wide a halo is. */
const TALL = 1.25;
const EDGE = 0.2;
const HALO = 0.3;
const WHITE = "rgb(255 255 255 / 0.85)";
/** Words of a picture that are so many times as large as the page's are left to the picture. */
const LARGE = 2;
/** How much wider than the page's the letters of a picture may be. */
const WIDER = 1.15;

/**
 * Words where they stand on a canvas: the middle of their box, its size, and its turn (radians,
 * clockwise); `cover` is the size of a picture's own words below them. Those that are not written are
 * only covered.
 * @typedef {object} PlacedWords
 * @property {string} text
 * @property {number} x
 * @property {number} y
 * @property {number} width
 * @property {number} height
 * @property {number} turn
 * @property {number} letter
 * @property {string} colour
 * @property {boolean} bold
 * @property {boolean} written
 * @property {{ x: number, y: number, width: number, height: number } | null} cover
 */

/**
 * The words of a picture as the page writes them over its plane, all of one size: at their place,
 * inside the plane, and none over others; where the picture's own lie below, these are all covered. Words beside a mark go before those that are repeated
 * along lines, and upper ones before lower ones.
 * @param {InnerWords[]} words
 * @param {{ left: number, top: number, scale: number }} frame of the picture on the canvas
 * @param {Box} plane what is seen of it
 * @param {number} letter in pixels of the canvas
 * @param {(text: string, bold: boolean) => number} measure how wide a text is in such letters
 * @param {boolean} covers whether the picture's own words lie below
 * @returns {PlacedWords[]}
 */
export function placeWords(words, frame, plane, letter, measure, covers) {
  const { scale } = frame;
  const upper = [...words].reverse();
  const order = [...upper.filter((one) => one.align), ...upper.filter((one) => !one.align)];
  /** @type {PlacedWords[]} */
  const placed = [];
  for (const { text, at, align = [0.5, 0.5], angle = 0, ...looks } of order) {
    if (covers && looks.letter * scale > LARGE * letter) continue;
    const [x, y] = [frame.left + at[0] * scale, frame.top + at[1] * scale];
    const [right, bottom] = [plane.left + plane.width, plane.top + plane.height];
    if (x < plane.left || y < plane.top || x > right || y > bottom) continue;
    const bold = Boolean(looks.bold);
    const measured = measure(text, bold);
    const width = measured + 2 * EDGE * letter;
    const height = TALL * letter;
    const turn = (-angle * Math.PI) / 180;
    const middle = (/** @type {number} */ wide, /** @type {number} */ tall) => ({
      x: x + (0.5 - align[0]) * wide,
      y: y + (0.5 - align[1]) * tall,
    });
    const larger = (looks.letter * scale) / letter;
    const own = { width: WIDER * measured * larger, height: height * larger };
    const one = { ...middle(width, height), width, height, turn };
    const [half, tall] = reach(one);
    const fits = 2 * half <= plane.width && 2 * tall <= plane.height;
    if (fits) {
      one.x = Math.min(right - half, Math.max(plane.left + half, one.x));
      one.y = Math.min(bottom - tall, Math.max(plane.top + tall, one.y));
    }
    const written = fits && !placed.some((other) => other.written && overlap(one, other));
    if (!written && !covers) continue;
    const cover = covers ? { ...middle(own.width, own.height), ...own } : null;
    placed.push({ ...one, text, letter, colour: looks.colour, bold, written, cover });
  }
  return placed;
}

/**
 * Write the words of a picture as it has them itself, on a canvas of its size.
 * @param {Context} context
 * @param {InnerWords[]} words
 * @param {Box} plane
 */
export function drawOwnWords(context, words, plane) {
  const frame = { left: 0, top: 0, scale: 1 };
  for (const one of words) {
    const measure = measureIn(context, one.letter);
    drawWords(context, placeWords([one], frame, plane, one.letter, measure, false));
  }
}

/**
 * Write words with a halo, so that they show on any colours, over the picture's own where there are
 * some.
 * @param {Context} context
 * @param {PlacedWords[]} placed
 */
export function drawWords(context, placed) {
  context.save();
  Object.assign(context, { textAlign: "center", textBaseline: "middle", lineJoin: "round" });
  for (const { turn, cover } of placed) {
    if (!cover) continue;
    context.save();
    context.translate(cover.x, cover.y);
    context.rotate(turn);
    context.fillStyle = WHITE;
    context.fillRect(-cover.width / 2, -cover.height / 2, cover.width, cover.height);
    context.restore();
  }
  for (const { text, x, y, turn, letter, colour, bold, written } of placed) {
    if (!written) continue;
    context.save();
    context.translate(x, y);
    context.rotate(turn);
    Object.assign(context, { font: fontOf(letter, bold), strokeStyle: WHITE });
    context.lineWidth = HALO * letter;
    context.strokeText(text, 0, 0);
    context.fillStyle = colour;
    context.fillText(text, 0, 0);
    context.restore();
  }
  context.restore();
}

/**
 * How wide texts are in letters of a size.
 * @param {Context} context
 * @param {number} letter
 */
export function measureIn(context, letter) {
  return (/** @type {string} */ text, /** @type {boolean} */ bold) => {
    context.font = fontOf(letter, bold);
    return context.measureText(text).width;
  };
}

/**
 * @param {number} letter
 * @param {boolean} bold
 */
function fontOf(letter, bold) {
  return `${bold ? 600 : 400} ${letter}px system-ui, sans-serif`;
}

/** @typedef {{ x: number, y: number, width: number, height: number, turn: number }} TurnedBox */

/**
 * Half the width and half the height of what a turned box takes.
 * @param {TurnedBox} box
 */
function reach({ width, height, turn }) {
  const [cos, sin] = [Math.abs(Math.cos(turn)), Math.abs(Math.sin(turn))];
  return [(width * cos + height * sin) / 2, (width * sin + height * cos) / 2];
}

/**
 * Whether two turned boxes have a point in common: no side of either parts them.
 * @param {TurnedBox} a
 * @param {TurnedBox} b
 */
function overlap(a, b) {
  return [a, b].every(({ turn }) =>
    [turn, turn + Math.PI / 2].every((side) => {
      const apart = (a.x - b.x) * Math.cos(side) + (a.y - b.y) * Math.sin(side);
      return Math.abs(apart) < along(a, side) + along(b, side);
    }),
  );
}

/**
 * Half of a turned box along a direction.
 * @param {TurnedBox} box
 * @param {number} side
 */
function along({ width, height, turn }, side) {
  const by = side - turn;
  return (width * Math.abs(Math.cos(by)) + height * Math.abs(Math.sin(by))) / 2;
}
