import { drawn, element, say, set } from "./element.js";
import { placeLabel, valueLabel } from "./place.js";
import { timeLabel } from "./valid_time.js";

/** @import { Difference } from "./difference.js" */
/** @import { Fields, Found } from "./fields.js" */
/** @import { Lens } from "./lens.js" */
/** @import { Pin } from "./pins.js" */
/** @import { Sheet } from "./sheet.js" */
/** @import { IndexLine, Place, Tools } from "./types.d.ts" */

/** Further than this a press of the pointer is a drag, not a click. */
const CLICK_PX = 5;
/** A double click shows the whole picture and keeps no place. */
const DOUBLE_MS = 260;
const NUDGE = 0.01;
const HINT = "Point at the map for its values; a click keeps the place";
const STEPS = new Map([
  ["ArrowLeft", [-1, 0]],
  ["ArrowRight", [1, 0]],
  ["ArrowUp", [0, -1]],
  ["ArrowDown", [0, 1]],
]);

/**
 * Values under the cursor of one pane: a cross where the shared cursor lies, a line of text below
 * the picture with what is there, and the kept places.
 */
export class Probe {
  #cursor;
  #pins;
  #profile;
  #glass;
  /** @type {Place | null} where a line begins that is being drawn */
  #from = null;
  #line = drawn("path");
  #lines = drawn("svg", { class: "across" }, this.#line);
  /** @type {{ x: number, y: number } | null} the pointer, in CSS pixels of the window */
  #pointer = null;
  /** @type {{ x: number, y: number } | null} */
  #pressed = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #click;
  /** @type {{ x: number, y: number } | null} a click whose place is kept once values are there */
  #kept = null;
  #cross = element("div", { className: "cross", hidden: true });
  #extremes = ["least", "most"].map((name) => element("div", { className: `extreme ${name}` }));
  /** What lies under the cursor, in words. */
  text = element("output", { className: "readout", "aria-live": "polite" });
  /** @type {Map<Pin, HTMLElement>} */
  #flags = new Map();

  /**
   * @param {HTMLElement} glass
   * @param {Tools} tools
   */
  constructor(glass, { cursor, pins, profile }) {
    this.#glass = glass;
    this.#cursor = cursor;
    this.#profile = profile;
    this.#pins = pins;
    glass.append(this.#lines, ...this.#extremes, this.#cross);
    this.#listen();
  }

  #listen() {
    const glass = this.#glass;
    glass.addEventListener("pointermove", (event) => {
      this.#pointer = { x: event.clientX, y: event.clientY };
      this.#cursor.moved();
    });
    glass.addEventListener("pointerleave", () => {
      this.#pointer = null;
      this.#cursor.leave();
    });
    glass.addEventListener("pointerdown", (event) => {
      this.#pointer = { x: event.clientX, y: event.clientY };
      this.#pressed = event.button === 0 && !event.shiftKey ? this.#pointer : null;
      this.#from = event.button === 0 && event.shiftKey ? this.#cursor.place : null;
      this.#cursor.moved();
    });
    glass.addEventListener("pointerup", (event) => {
      const from = this.#pressed;
      this.#pressed = this.#from = null;
      if (!from || Math.hypot(event.clientX - from.x, event.clientY - from.y) > CLICK_PX) return;
      if (event.target instanceof Element && event.target.closest("button, .handle")) return;
      clearTimeout(this.#click);
      this.#click = setTimeout(() => {
        this.#kept = from;
        this.#cursor.moved();
      }, DOUBLE_MS);
    });
    glass.addEventListener("dblclick", () => clearTimeout(this.#click));
    glass.addEventListener("keydown", (event) => this.#key(event));
  }

  /**
   * With alt the arrows move the cursor, and Enter keeps its place.
   * @param {KeyboardEvent} event
   */
  #key(event) {
    if (event.key === "Enter" && this.#cursor.place) this.#pins.add(this.#cursor.place);
    const by = event.altKey ? STEPS.get(event.key) : undefined;
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const box = this.#glass.getBoundingClientRect();
    const far = event.shiftKey ? 10 : 1;
    const at = this.#pointer ?? { x: box.left + box.width / 2, y: box.top + box.height / 2 };
    this.#pointer = {
      x: Math.min(box.right, Math.max(box.left, at.x + by[0] * far * NUDGE * box.width)),
      y: Math.min(box.bottom, Math.max(box.top, at.y + by[1] * far * NUDGE * box.height)),
    };
    this.#cursor.moved();
  }

  /**
   * Draw. `fields` are those of the picture on the first sheet, `others` those of the second;
   * each null until it is loaded.
   * @param {{ fields: Fields | null, line: IndexLine | undefined, sheet: Sheet, missing: boolean, extremes: boolean,
   *   difference?: Difference | null }} mine
   * @param {{ fields: Fields | null, run: string, sheet: Sheet, mode: string }} theirs
   * @param {Lens} lens
   */
  show({ fields, line, sheet, missing, extremes, difference }, theirs, lens) {
    const beside = theirs.mode === "side" && this.#isOver(theirs.sheet);
    const [over, under] = beside ? [theirs.fields, theirs.sheet] : [fields, sheet];
    if (this.#kept && over) {
      const kept = this.#placeAt(over, under, lens, this.#kept);
      if (kept) this.#pins.add(kept);
    }
    if (over || missing) this.#kept = null;
    if (this.#pointer && over) this.#cursor.place = this.#placeAt(over, under, lens, this.#pointer);
    const place = this.#cursor.place;
    const found = place && fields ? foundAt(fields, place) : null;
    this.#mark(this.#cross, fields && place ? spot(fields, place, sheet, lens) : null);
    const other = place && theirs.fields ? foundAt(theirs.fields, place) : null;
    const away = found && difference?.values[found.number][found.point];
    const further = [
      ...(found && away != null ? [`difference ${valueLabel(away, found.field)}`] : []),
      ...(found && other && away == null ? comparedWith(found, other, theirs.run) : []),
    ];
    this.#write(found, line, further, missing && this.#pointer !== null);
    if (this.#from && place && place !== this.#from) this.#profile.draw([this.#from, place]);
    this.#showLine(fields, sheet, lens);
    this.#showPins(fields, sheet, lens);
    this.#showExtremes(extremes ? fields : null, sheet, lens);
  }

  /**
   * @param {Fields | null} fields
   * @param {Sheet} sheet
   * @param {Lens} lens
   */
  #showLine(fields, sheet, lens) {
    const ends = fields ? (this.#profile.ends ?? []) : [];
    const box = this.#glass.getBoundingClientRect();
    const at = ends.map((end) => fields && spot(fields, end, sheet, lens));
    const parts = at.map((one) => one && `${one.x - box.left} ${one.y - box.top}`);
    set(this.#line, { d: parts.length && parts.every(Boolean) ? `M${parts.join("L")}` : "" });
  }

  /**
   * @param {Fields | null} fields
   * @param {Sheet} sheet
   * @param {Lens} lens
   */
  #showExtremes(fields, sheet, lens) {
    const ends = fields?.extremes ?? [];
    this.#extremes.forEach((mark, end) => {
      const at = ends[end];
      const place = fields && at?.place;
      this.#mark(mark, place ? spot(fields, place, sheet, lens) : null);
      if (fields && at) say(mark, valueLabel(at.value, fields.header.fields[0]));
    });
  }

  /** @param {Sheet} sheet */
  #isOver(sheet) {
    const box = sheet.element.getBoundingClientRect();
    return this.#pointer !== null && this.#pointer.x >= box.left;
  }

  /**
   * @param {Fields} fields
   * @param {Sheet} sheet
   * @param {Lens} lens
   * @param {{ x: number, y: number }} at
   * @returns {Place | null}
   */
  #placeAt(fields, sheet, lens, at) {
    const box = sheet.frame(lens);
    const [width, height] = fields.header.size;
    const found = fields.coordinates(
      ((at.x - box.left) / box.width) * width,
      ((at.y - box.top) / box.height) * height,
    );
    return found && fields.grids[0].place(...found);
  }

  /**
   * @param {Found | null} found
   * @param {IndexLine | undefined} line
   * @param {string[]} further what it is compared with
   * @param {boolean} missing
   */
  #write(found, line, further, missing) {
    const { text } = this;
    if (!found || !line) {
      say(text, missing ? "This picture has no values" : line?.values ? HINT : "");
      for (const name of ["value", "index", "lat", "lon", "x", "y", "plane"])
        delete text.dataset[name];
      return;
    }
    const { field, value, place, index, number } = found;
    const parts = [valueLabel(value, field), ...further];
    if (number > 0 && field.label) parts.unshift(field.label);
    parts.push(placeLabel(place, found.grid));
    if (index) parts.push(field.stride > 1 ? `${index} (1 of ${field.stride} points)` : index);
    parts.push(timeLabel(line.time));
    say(text, parts.filter(Boolean).join("  ·  "));
    set(text, { "data-value": value, "data-index": index });
    for (const [name, at] of Object.entries(place)) text.dataset[name] = String(at);
  }

  /**
   * @param {Fields | null} fields
   * @param {Sheet} sheet
   * @param {Lens} lens
   */
  #showPins(fields, sheet, lens) {
    for (const [pin, flag] of this.#flags) {
      if (this.#pins.list.includes(pin)) continue;
      flag.remove();
      this.#flags.delete(pin);
    }
    for (const pin of this.#pins.list) {
      let flag = this.#flags.get(pin);
      if (!flag) {
        flag = element("div", { className: "flag" }, element("span", {}, pin.name));
        flag.style.setProperty("--pin", pin.colour);
        this.#flags.set(pin, flag);
        this.#glass.append(flag);
      }
      this.#mark(flag, fields && spot(fields, pin.place, sheet, lens));
    }
  }

  /**
   * Put an element at a point of the window, or hide it.
   * @param {HTMLElement} target
   * @param {{ x: number, y: number } | null} at
   */
  #mark(target, at) {
    target.hidden = at === null;
    if (at === null) return;
    const box = this.#glass.getBoundingClientRect();
    target.style.transform = `translate(${at.x - box.left}px, ${at.y - box.top}px)`;
  }
}

/**
 * @param {Found} found
 * @param {Found} other
 * @param {string} run
 */
function comparedWith({ value, field }, other, run) {
  const theirs = `${run}: ${valueLabel(other.value, other.field)}`;
  if (other.field.units !== field.units) return [theirs];
  return [theirs, `difference ${valueLabel(value - other.value, field)}`];
}

/**
 * What lies at a place of a picture, or null where it is not in it.
 * @param {Fields} fields
 * @param {Place} place
 */
export function foundAt(fields, place) {
  const at = fields.grids[0].coordinates(place);
  return at && fields.at(...at);
}

/**
 * Where a place lies in the window, or null where it is not on the map.
 * @param {Fields} fields
 * @param {Place} place
 * @param {Sheet} sheet
 * @param {Lens} lens
 */
function spot(fields, place, sheet, lens) {
  const at = fields.grids[0].coordinates(place);
  if (!at) return null;
  const [across, down] = fields.pixel(...at);
  const [left, top, right, bottom] = fields.header.box;
  if (!(across >= left && across <= right && down >= top && down <= bottom)) return null;
  const [width, height] = fields.header.size;
  const box = sheet.frame(lens);
  return {
    x: box.left + (across / width) * box.width,
    y: box.top + (down / height) * box.height,
  };
}
