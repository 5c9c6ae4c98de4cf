import { stepBetween } from "../elements/digits.js";
import { drawn, element, say, set } from "../elements/element.js";
import { asDifference, valueLabel } from "../elements/value_label.js";
import { areLimits } from "./looks.js";
import { MAPS } from "./maps.js";

/** @import { Difference } from "../values/difference.js" */
/** @import { Fields } from "../values/fields.js" */
/** @import { Lens } from "../wall/lens.js" */
/** @import { Look, Looks } from "./looks.js" */
/** @import { Sheet } from "./sheet.js" */
/** @import { Changed } from "../types.d.ts" */

const BINS = 60;
const MINUS = [
  ["", "nothing"],
  ["first", "the first frame"],
  ["before", "the frame before"],
  ["run", "the other run"],
];

/** The controls of one picture's colours: limits, colour map, what is taken away, a histogram. */
export class Palette {
  #looks;
  #series = "";
  /** @type {() => [number, number] | null} */
  #inSight = () => null;
  #low = number("Lowest value of the colours");
  #high = number("Highest value of the colours");
  #map = choice("Colour map", [["", "as drawn"], ...Object.keys(MAPS).map((one) => [one, one])]);
  #minus = choice("What is taken away", MINUS);
  #marks = element("input", { type: "checkbox" });
  #fit = element(
    "button",
    { type: "button", className: "small", onclick: () => this.#stretch() },
    "To the values in sight",
  );
  #bars = drawn("path", { class: "bars" });
  #ends = drawn("path", { class: "here" });
  #words = element("p", { className: "faint" });
  #histogramOf = "";
  /** @type {HTMLButtonElement} */
  button;

  /**
   * @param {Looks} looks
   * @param {Changed} changed
   */
  constructor(looks, changed) {
    this.#looks = looks;
    this.button = element(
      "button",
      {
        type: "button",
        className: "small",
        title: "Own limits and colours, differences, histogram",
        "aria-expanded": false,
        onclick: () => {
          this.element.hidden = !this.element.hidden;
          set(this.button, { "aria-expanded": !this.element.hidden });
          changed();
        },
      },
      "Colours",
    );
    const reset = { onclick: () => looks.reset(this.#series), className: "small" };
    this.element = element(
      "div",
      { className: "palette", hidden: true, role: "group", "aria-label": "Colours" },
      element("div", {}, element("span", {}, "Limits"), this.#low, "to", this.#high),
      element("div", {}, this.#fit, element("button", { type: "button", ...reset }, "As drawn")),
      element("label", {}, "Map", this.#map),
      element("label", {}, "Minus", this.#minus),
      element("label", {}, this.#marks, "Mark smallest and largest"),
      drawn(
        "svg",
        { viewBox: "0 0 240 48", role: "img", "aria-label": "Histogram of the values" },
        this.#bars,
        this.#ends,
      ),
      this.#words,
    );
    const leave = (/** @type {KeyboardEvent} */ { key }) => {
      if (key !== "Escape" || this.element.hidden) return;
      this.button.focus();
      this.button.click();
    };
    this.button.addEventListener("keydown", leave);
    this.element.addEventListener("keydown", leave);
    for (const input of [this.#low, this.#high]) {
      input.addEventListener("change", () => {
        if (input.value) this.#enter();
        else input.value = input.defaultValue; // empty is not 0
      });
    }
    this.#map.addEventListener("change", () => this.#choose({ map: this.#map.value || null }));
    this.#minus.addEventListener("change", () => {
      const minus = /** @type {Look["minus"]} */ (this.#minus.value);
      this.#choose({ minus, limits: null, map: null });
    });
    this.#marks.addEventListener("change", () => this.#choose({ extremes: this.#marks.checked }));
  }

  /** @param {Partial<Look>} parts */
  #choose(parts) {
    this.#looks.choose(this.#series, parts);
  }

  #enter() {
    const limits = /** @type {[number, number]} */ ([+this.#low.value, +this.#high.value]);
    const fits = areLimits(...limits);
    const text = fits ? "" : "The first number must be below the second";
    this.#high.setCustomValidity(text);
    if (fits) this.#choose({ limits });
    else this.#high.reportValidity();
  }

  #stretch() {
    const limits = this.#inSight();
    if (limits && areLimits(...limits)) this.#choose({ limits });
  }

  /** Whether values are needed though the picture is shown as it was drawn. */
  get asks() {
    return !this.element.hidden || this.#looks.of(this.#series).extremes;
  }

  /**
   * @param {string} series
   * @param {Fields | null} fields
   * @param {Difference | null | undefined} difference
   * @param {[number, number] | undefined} limits of the colours that are shown
   * @param {Sheet} sheet
   * @param {Lens} lens
   * @param {boolean} compared whether there is another run
   */
  show(series, fields, difference, limits, sheet, lens, compared) {
    this.#series = series;
    this.#inSight = () => fields && inSight(fields, difference, sheet, lens);
    if (this.element.hidden) return;
    const look = this.#looks.of(series);
    const root = this.element.getRootNode();
    const active = root instanceof ShadowRoot ? root.activeElement : document.activeElement;
    [this.#low, this.#high].forEach((input, end) => {
      const text = limits ? plain(limits[end], stepBetween(...limits) / 1000) : "";
      if (active !== input && input.value !== text) input.value = text;
      input.defaultValue = text;
    });
    this.#map.value = look.map ?? "";
    // Limits and colours of a difference mean nothing on values.
    for (const one of [this.#low, this.#high, this.#fit, this.#map]) {
      one.disabled = look.minus !== "" && !difference;
    }
    this.#minus.value = look.minus;
    this.#minus.options[3].disabled = !compared;
    this.#marks.checked = look.extremes;
    if (fields) return this.#histogram(fields, difference, limits);
    this.#histogramOf = "";
    for (const path of [this.#bars, this.#ends]) set(path, { d: "" });
    say(this.#words, "");
  }

  /**
   * @param {Fields} fields
   * @param {Difference | null | undefined} difference
   * @param {[number, number] | undefined} limits
   */
  #histogram(fields, difference, limits) {
    const name = `${fields.key} ${limits} ${difference?.mean}`;
    if (name === this.#histogramOf) return;
    this.#histogramOf = name;
    const field = fields.header.fields[0];
    const log = field.transform === "log" && !difference;
    const scale = log ? Math.log : (/** @type {number} */ v) => v;
    const [values, counts] = difference ? [difference.values[0], null] : fields.counts(0);
    let [low, high] = [Infinity, -Infinity];
    for (let at = 0; at < values.length; at += 1) {
      if (counts?.[at] === 0 || !Number.isFinite(values[at]) || (log && values[at] <= 0)) continue;
      low = Math.min(low, values[at]);
      high = Math.max(high, values[at]);
    }
    const bins = new Uint32Array(BINS);
    const width = scale(high) - scale(low) || 1;
    for (let at = 0; at < values.length; at += 1) {
      if (!(values[at] >= low && values[at] <= high)) continue;
      const bin = Math.floor(((scale(values[at]) - scale(low)) / width) * BINS);
      bins[Math.min(BINS - 1, bin)] += counts?.[at] ?? 1;
    }
    const most = Math.max(...bins);
    const step = 240 / BINS;
    const bars = [...bins].map((count, at) => {
      const tall = (44 * count) / most;
      return count ? `M${at * step} 46v${-tall.toFixed(2)}h${step - 0.6}v${tall.toFixed(2)}z` : "";
    });
    set(this.#bars, { d: low <= high ? bars.join("") : "" });
    const ends = (limits ?? [])
      .map((at) => ((scale(at) - scale(low)) / width) * 240)
      .filter((at) => at >= 0 && at <= 240);
    set(this.#ends, { d: ends.map((at) => `M${at.toFixed(1)} 0V48`).join("") });
    const points = field.stride > 1 ? `, 1 of ${field.stride} points along each side` : "";
    const ends_ = [low, high].map((end) =>
      valueLabel(end, difference ? asDifference(field) : field),
    );
    say(this.#words, low <= high ? ends_.join(" to ") + points : "No finite values");
  }
}

/**
 * The range of the values that are seen through the lens, a symmetric one of a difference; null
 * where there are none.
 * @param {Fields} fields
 * @param {Difference | null | undefined} difference
 * @param {Sheet} sheet
 * @param {Lens} lens
 * @returns {[number, number] | null}
 */
function inSight(fields, difference, sheet, lens) {
  const { size, box } = fields.header;
  const seen = sheet.window(lens, size);
  const [left, top] = [Math.max(box[0], seen[0]), Math.max(box[1], seen[1])];
  const [right, bottom] = [Math.min(box[2], seen[2]), Math.min(box[3], seen[3])];
  const { points, width } = fields.pixels(0);
  let [low, high] = [Infinity, -Infinity];
  for (let y = Math.floor(top - box[1]); y < Math.floor(bottom - box[1]); y += 1) {
    for (let x = Math.floor(left - box[0]); x < Math.floor(right - box[0]); x += 1) {
      const point = points[y * width + x];
      const value = point < 0 ? NaN : (difference?.values[0][point] ?? fields.value(0, point));
      if (value < low && value > -Infinity) low = value;
      if (value > high && value < Infinity) high = value;
    }
  }
  const far = Math.max(-low, high);
  return low < high ? (difference ? [-far, far] : [low, high]) : null;
}

/**
 * A number as a field to type into takes it, rounded to a step.
 * @param {number} value
 * @param {number} step
 */
function plain(value, step) {
  return String(step > 0 ? Number((Math.round(value / step) * step).toPrecision(12)) : value);
}

/** @param {string} label */
function number(label) {
  return element("input", { type: "number", step: "any", "aria-label": label });
}

/**
 * @param {string} label
 * @param {string[][]} options
 */
function choice(label, options) {
  return element(
    "select",
    { "aria-label": label },
    ...options.map(([value, text]) => element("option", { value }, text)),
  );
}
