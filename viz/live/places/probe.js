import { SheetMarks } from "../drawing/sheet_marks.js";
import { element, say, set } from "../elements/element.js";
import { timeLabel } from "../elements/valid_time.js";
import { asDifference, stepAt, valueLabel } from "../elements/value_label.js";
import { placeLabel } from "../values/place.js";

/** @import { Difference } from "../values/difference.js" */
/** @import { Fields, Found } from "../values/fields.js" */
/** @import { Lens } from "../wall/lens.js" */
/** @import { Sheet } from "../drawing/sheet.js" */
/** @import { IndexLine, Place, Tools } from "../types.d.ts" */

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
 * A run's picture; `fields` are its values, null until they are loaded, `missing` where there are none.
 * @typedef {{ fields: Fields | null, sheet: Sheet, missing: boolean }} Picture
 */
/** @typedef {{ x: number, y: number }} Point in CSS pixels of the window */
/**
 * The pictures on both sheets; the second one is seen from a part `from` of the width on.
 * @typedef {object} Shown
 * @property {Picture & { line: IndexLine | undefined, extremes: boolean, difference?: Difference | null }} mine
 * @property {Picture & { run: string, from: number }} theirs
 * @property {Lens} lens
 */

/**
 * Values under the cursor of one pane: a cross where the shared cursor lies, a line of text below
 * the picture with what is there, and the kept places.
 */
export class Probe {
  #tools;
  #glass;
  /** @type {Place | null} where a line begins that is being drawn */
  #from = null;
  /** @type {Point | null} */
  #pointer = null;
  /** @type {Point & { isSecond: boolean } | null} */
  #pressed = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #click;
  /** @type {Point & { isSecond: boolean } | null} a click whose place is kept once values are there */
  #kept = null;
  #marks = [new SheetMarks(), new SheetMarks()];
  /** @type {Shown | null} */
  #shown = null;
  /** What lies under the cursor, in words. */
  text = element("output", { className: "readout", "aria-live": "polite" });

  /**
   * @param {HTMLElement} glass
   * @param {Tools} tools
   */
  constructor(glass, tools) {
    this.#glass = glass;
    this.#tools = tools;
    set(glass, {
      role: "group",
      "aria-label": "Values: Alt and the arrows move the cursor, Enter keeps its place",
    });
    glass.append(...this.#marks.map((one) => one.element));
    this.#listen();
  }

  #listen() {
    const [glass, { cursor, profile }] = [this.#glass, this.#tools];
    const leave = () => {
      if (!this.#pointer) return;
      this.#pointer = null;
      cursor.leave();
    };
    /** @param {PointerEvent} event */
    const move = ({ clientX: x, clientY: y }) => {
      this.#pointer = { x, y };
      cursor.moved();
      return this.#pointer;
    };
    const release = () => {
      if (this.#from) profile.draw(profile.ends);
      this.#pressed = this.#from = null;
    };
    glass.addEventListener("pointermove", move);
    // A finger leaves at once: what it has tapped stays.
    glass.addEventListener("pointerleave", ({ pointerType }) => pointerType === "touch" || leave());
    glass.addEventListener("blur", () => glass.matches(":hover") || leave()); // of the keys' cursor
    glass.addEventListener("pointerdown", (event) => {
      const at = move(event);
      release();
      if (
        event.button !== 0 ||
        (event.target instanceof Element && event.target.closest(".handle"))
      )
        return;
      if (!event.shiftKey) this.#pressed = { ...at, isSecond: this.#isSecond(at) };
      else if (cursor.place) {
        this.#from = cursor.place;
        glass.setPointerCapture(event.pointerId); // also where it is released elsewhere
      }
    });
    glass.addEventListener("pointercancel", release);
    glass.addEventListener("pointerup", (event) => {
      const from = this.#pressed;
      release();
      if (!from || Math.hypot(event.clientX - from.x, event.clientY - from.y) > CLICK_PX) return;
      clearTimeout(this.#click);
      this.#click = setTimeout(() => {
        this.#kept = from;
        cursor.moved();
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
    const { cursor, pins } = this.#tools;
    if (event.key === "Enter" && cursor.place) pins.add(cursor.place);
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
    cursor.moved();
  }

  /**
   * Read the place under the pointer, before any pane shows the cursor.
   * @param {Shown} shown
   */
  point(shown) {
    this.#shown = shown;
    set(this.#glass, { tabindex: shown.mine.line?.values ? 0 : -1 });
    const { cursor, pins } = this.#tools;
    const [kept, pointer] = [this.#kept, this.#pointer];
    const chosen = kept ? this.#placeAt(shown, kept, kept.isSecond) : undefined;
    if (chosen !== undefined) this.#kept = null;
    if (chosen) pins.add(chosen);
    const place = pointer ? this.#placeAt(shown, pointer, this.#isSecond(pointer)) : undefined;
    if (place !== undefined) cursor.place = place;
  }

  /** Draw, as soon as all panes have read their pointers. */
  show() {
    if (!this.#shown) return;
    const { mine, theirs, lens } = this.#shown;
    const { cursor, profile } = this.#tools;
    const { place } = cursor;
    if (this.#from && place && place !== this.#from) profile.draw([this.#from, place], false);
    this.#write(place, this.#shown);
    const [first, second] = this.#marks;
    first.show(mine, [0, theirs.from], this.#tools, lens);
    second.show({ ...theirs, extremes: mine.extremes }, [theirs.from, 1], this.#tools, lens);
  }

  /**
   * Whether the second sheet is the one that is seen at a point.
   * @param {Point} at
   */
  #isSecond({ x }) {
    const [{ left, width }, from] = [this.#glass.getBoundingClientRect(), this.#shown?.theirs.from];
    return from !== undefined && from < 1 && x >= left + from * width;
  }

  /**
   * The place at a point of a sheet, null where there is none; undefined until it is known.
   * @param {Shown} shown
   * @param {Point} at
   * @param {boolean} isSecond
   * @returns {Place | null | undefined}
   */
  #placeAt({ mine, theirs, lens }, at, isSecond) {
    const { fields, missing, sheet } = isSecond ? theirs : mine;
    if (!fields) return missing ? null : undefined;
    const [box, plane] = [sheet.frame(lens), sheet.plane];
    const isSeen =
      at.x >= plane.left && at.x < plane.right && at.y >= plane.top && at.y < plane.bottom;
    if (!isSeen) return null;
    const [width, height] = fields.header.size;
    const found = fields.coordinates(
      ((at.x - box.left) / box.width) * width,
      ((at.y - box.top) / box.height) * height,
    );
    return found && fields.grids[0].place(...found);
  }

  /**
   * @param {Place | null} place
   * @param {Shown} shown
   */
  #write(place, { mine, theirs }) {
    const { text } = this;
    const { line, difference } = mine;
    const own = place && mine.fields ? foundAt(mine.fields, place) : null;
    const other = place && theirs.fields ? foundAt(theirs.fields, place) : null;
    const found = own ?? other;
    if (!found || !line) {
      const over = this.#pointer && this.#isSecond(this.#pointer) ? theirs : mine;
      const without = over.missing && this.#pointer;
      say(text, without ? "This picture has no values" : line?.values ? HINT : "");
      for (const name of Object.keys(text.dataset)) delete text.dataset[name];
      return;
    }
    const { field, value, index, number } = found;
    const away = own && difference?.values[own.number][own.point];
    const parts = own ? [valueLabel(value, field)] : [];
    if (own && away != null) parts.push(awayLabel(away, own));
    else if (other) parts.push(...comparedWith(own, other, theirs.run));
    if (number > 0 && field.label) parts.unshift(field.label);
    parts.push(placeLabel(found.place, found.grid));
    const thinned = field.stride > 1 ? ` (1 of ${field.stride} points)` : "";
    if (index) parts.push(`grid point ${index}${thinned}`);
    parts.push(timeLabel(line.time));
    say(text, parts.filter(Boolean).join("  ·  "));
    set(text, { "data-value": value, "data-index": index });
    for (const [name, at] of Object.entries(found.place)) text.dataset[name] = String(at);
  }
}

/**
 * @param {Found | null} own
 * @param {Found} other
 * @param {string} run
 */
function comparedWith(own, other, run) {
  const theirs = `${run}: ${valueLabel(other.value, other.field)}`;
  if (other.field.units !== own?.field.units) return [theirs];
  return [theirs, awayLabel(own.value - other.value, own)];
}

/**
 * A difference is known as far as the values that it is of.
 * @param {number} away
 * @param {Found} own
 */
function awayLabel(away, { value, field }) {
  const step = Math.max(stepAt(value, field), stepAt(value - away, field));
  return `difference ${valueLabel(away, asDifference(field), step)}`;
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
