import { drawn, element, set } from "./element.js";

/** @import { Axis } from "../types.d.ts" */

const PLOT_WIDTH = 300;
const PLOT_HEIGHT = 84;
const LEFT = 54;
const BOTTOM = 16;
const TOP = 6;
const RIGHT = 6;

/** @typedef {(value: number) => number} Scale */

/**
 * A small plot over wall time: a heading with the latest value, axes with units, and one path per
 * curve, thinned to its smallest and largest value in each pixel column.
 */
export class Plot {
  #value = element("span", { className: "value" });
  #axes = drawn("g", { class: "ticks" });
  #curves;

  /**
   * `curves` are class names, in the order in which `show` gets their values; with `gaps` a value
   * that is not finite ends the line, which begins again behind it.
   * @param {string} title
   * @param {string[]} curves
   * @param {{ gaps?: boolean }} [options]
   */
  constructor(title, curves, { gaps = false } = {}) {
    this.title = title;
    this.#gaps = gaps;
    this.#curves = curves.map((name) => drawn("path", { class: `curve ${name}` }));
    this.#svg = drawn(
      "svg",
      { viewBox: `0 0 ${PLOT_WIDTH} ${PLOT_HEIGHT}`, role: "img" },
      this.#shade,
      this.#axes,
      drawn("path", {
        class: "axis",
        d: `M${LEFT} ${TOP}V${PLOT_HEIGHT - BOTTOM}H${PLOT_WIDTH - RIGHT}`,
      }),
      ...this.#curves,
      this.#here,
    );
    this.element = element(
      "figure",
      { className: "plot", hidden: true },
      element("figcaption", {}, element("span", {}, title), this.#value),
      this.#svg,
    );
  }

  #gaps;
  #svg;
  #shade = drawn("path", { class: "shade" }, drawn("title", {}, "Stale"));
  #here = drawn("path", { class: "here" });
  /** @type {Scale | null} */
  #toX = null;

  /**
   * `value` is the heading's text in parts [text, class], with the class of the curve that the part
   * describes; `x` and `y` are axes {low, high, ticks: [[value, label]],
   * scale}, `lists` the values of each curve against `at`: undefined ones are passed over. What is
   * `stale` of `at` is shaded.
   * @param {[text: string, className: string][]} value
   * @param {Axis} x
   * @param {Axis} y
   * @param {number[]} at
   * @param {(number | undefined)[][]} lists
   * @param {boolean[]} [stale]
   */
  show(value, x, y, at, lists, stale = []) {
    this.element.hidden = false;
    const heading = value.map(([text]) => text).join(" ");
    if (this.#value.textContent !== heading) {
      this.#value.replaceChildren(
        ...value.flatMap(([text, className]) => [" ", element("span", { className }, text)]),
      );
    }
    const shaded = stale.includes(true) ? "; shaded: stale" : "";
    set(this.#svg, { "aria-label": `${this.title}: ${heading}${shaded}` });
    /** @type {Scale} */
    const toX = (v) => LEFT + ((v - x.low) / (x.high - x.low || 1)) * (PLOT_WIDTH - LEFT - RIGHT);
    this.#toX = toX;
    set(this.#shade, { d: shade(at, stale, toX) });
    /** @type {Scale} */
    const scale = y.scale ?? ((v) => v);
    const [low, high] = [scale(y.low), scale(y.high)];
    /** @type {Scale} */
    const toY = (v) =>
      PLOT_HEIGHT - BOTTOM - ((scale(v) - low) / (high - low || 1)) * (PLOT_HEIGHT - BOTTOM - TOP);
    this.#axes.replaceChildren(
      ...x.ticks.map(([v, label], i) =>
        drawn(
          "text",
          {
            x: toX(v).toFixed(1),
            y: PLOT_HEIGHT - 3,
            "text-anchor": i === x.ticks.length - 1 && toX(v) > PLOT_WIDTH - 30 ? "end" : "middle",
          },
          label,
        ),
      ),
      ...y.ticks.flatMap(([v, label]) => [
        drawn("path", { d: `M${LEFT} ${toY(v).toFixed(1)}H${PLOT_WIDTH - RIGHT}` }),
        drawn("text", { x: LEFT - 5, y: (toY(v) + 3.5).toFixed(1), "text-anchor": "end" }, label),
      ]),
    );
    for (const [i, list] of lists.entries()) {
      set(this.#curves[i], { d: path(at, list, toX, toY, this.#gaps) });
    }
  }

  /**
   * Mark a place on the x axis.
   * @param {number} x
   */
  point(x) {
    const place = this.#toX?.(x) ?? NaN;
    const inside = place >= LEFT - 1 && place <= PLOT_WIDTH;
    set(this.#here, { d: inside ? `M${place.toFixed(1)} ${TOP}V${PLOT_HEIGHT - BOTTOM}` : "" });
  }

  /**
   * Give a curve a colour of its own, and dashes.
   * @param {number} curve
   * @param {string} colour
   * @param {string} dashes
   */
  colour(curve, colour, dashes) {
    Object.assign(this.#curves[curve].style, { stroke: colour, strokeDasharray: dashes });
  }

  hide() {
    this.element.hidden = true;
  }
}

/**
 * Boxes from the first to the last of values beside each other that are stale.
 * @param {number[]} at
 * @param {boolean[]} stale
 * @param {Scale} toX
 */
function shade(at, stale, toX) {
  const parts = [];
  for (let first = 0, last = 0; first < stale.length; first = last + 1) {
    for (last = first; stale[last + 1] && stale[first]; ) last += 1;
    if (!stale[first]) continue;
    const [from, to] = [toX(at[first]) - 1.5, toX(at[last]) + 1.5].map((x) => x.toFixed(1));
    parts.push(`M${from} ${TOP}H${to}V${PLOT_HEIGHT - BOTTOM}H${from}z`);
  }
  return parts.join("");
}

/**
 * @param {number[]} at
 * @param {(number | undefined)[]} list
 * @param {Scale} toX
 * @param {Scale} toY
 * @param {boolean} gaps
 */
function path(at, list, toX, toY, gaps) {
  /** @typedef {Map<number, [low: number, high: number]>} Columns by half pixels */
  /** @type {Columns} */
  let columns = new Map();
  const pieces = [columns];
  for (const [i, value] of list.entries()) {
    if (value === undefined) continue;
    if (!Number.isFinite(value)) {
      if (gaps && columns.size) {
        columns = new Map();
        pieces.push(columns);
      }
      continue;
    }
    const column = Math.round(toX(at[i]) * 2) / 2;
    const range = columns.get(column);
    if (!range) columns.set(column, [value, value]);
    else if (value < range[0]) range[0] = value;
    else if (value > range[1]) range[1] = value;
  }
  return pieces.map((piece) => line(piece, toY)).join("");
}

/**
 * @param {Map<number, [low: number, high: number]>} columns
 * @param {Scale} toY
 */
function line(columns, toY) {
  const parts = [];
  for (const [x, [low, high]] of columns) {
    parts.push(`${x} ${toY(low).toFixed(1)}`);
    if (high > low) parts.push(`${x} ${toY(high).toFixed(1)}`);
  }
  if (!parts.length) return "";
  if (parts.length === 1) return `M${parts[0]}m-1.5 0h3`; // a single value must be visible too
  return `M${parts[0]}L${parts.join("L")}`;
}
