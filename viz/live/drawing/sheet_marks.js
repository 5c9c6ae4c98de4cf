import { drawn, element, say, set } from "../elements/element.js";
import { asDifference, valueLabel } from "../elements/value_label.js";

/** @import { Difference } from "../values/difference.js" */
/** @import { Fields } from "../values/fields.js" */
/** @import { Lens } from "../wall/lens.js" */
/** @import { Pin } from "../places/pins.js" */
/** @import { Sheet } from "./sheet.js" */
/** @import { Box, Place, Tools } from "../types.d.ts" */

/**
 * @typedef {{ fields: Fields | null, sheet: Sheet, extremes: boolean, difference?: Difference | null }}
 *   MarkedPicture
 */

/** What lies over one sheet: the cursor's cross, kept places, a profile's line, and extremes. */
export class SheetMarks {
  #cross = element("div", { className: "cross", hidden: true });
  #extremes = ["least", "most"].map((name) =>
    element("div", { className: `extreme ${name}`, hidden: true }),
  );
  #line = drawn("path");
  /** @type {Map<Pin, HTMLElement>} */
  #flags = new Map();
  element = element(
    "div",
    { className: "marks" },
    drawn("svg", { class: "across" }, this.#line),
    ...this.#extremes,
    this.#cross,
  );

  /**
   * Draw where the sheet is seen: `from` and `to` are parts of the width. `fields` are null until
   * they are loaded; the extremes are those of a difference where one is shown.
   * @param {MarkedPicture} shown
   * @param {[from: number, to: number]} seen
   * @param {Tools} tools
   * @param {Lens} lens
   */
  show({ fields, sheet, extremes, difference }, [from, to], { cursor, pins, profile }, lens) {
    this.element.style.clipPath = `inset(0 ${100 * (1 - to)}% 0 ${100 * from}%)`;
    const [glass, frame] = [this.element.getBoundingClientRect(), sheet.frame(lens)];
    const box = { ...frame, left: frame.left - glass.left, top: frame.top - glass.top };
    const { x: across, y: down, width, height } = sheet.plane;
    const plane = { left: across - glass.left, top: down - glass.top, width, height };
    const spot = (/** @type {Place | null | undefined} */ place) =>
      place && fields && from < to ? spotOf(fields, place, box, plane) : null;
    mark(this.#cross, spot(cursor.place));
    const ends = profile.ends?.map(spot) ?? [];
    const parts = ends.map((at) => at && `${at.x} ${at.y}`);
    // A dot marks the end where the profile begins.
    const line = `M${parts.join("L")}M${parts[0]}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0`;
    set(this.#line, { d: parts.length && parts.every(Boolean) ? line : "" });
    this.#extremes.forEach((one, end) => {
      const found = extremes && fields?.extremes(difference?.values[0])[end];
      mark(one, found ? spot(found.place) : null);
      const [field] = fields?.header.fields ?? [];
      if (found && field)
        say(one, valueLabel(found.value, difference ? asDifference(field) : field));
    });
    for (const [pin, flag] of this.#flags) {
      if (pins.list.includes(pin)) continue;
      flag.remove();
      this.#flags.delete(pin);
    }
    for (const pin of pins.list) {
      const at = spot(pin.place);
      const flag = this.#flags.get(pin) ?? (at && this.#flag(pin));
      if (flag) mark(flag, at);
    }
  }

  /** @param {Pin} pin */
  #flag(pin) {
    const flag = element("div", { className: "flag" }, element("span", {}, pin.name));
    flag.style.setProperty("--pin", pin.colour);
    this.#flags.set(pin, flag);
    this.element.append(flag);
    return flag;
  }
}

/**
 * Put an element at a point, or hide it.
 * @param {HTMLElement} target
 * @param {{ x: number, y: number } | null} at
 */
function mark(target, at) {
  target.hidden = at === null;
  if (at) target.style.transform = `translate(${at.x}px, ${at.y}px)`;
}

/**
 * Where a place lies in a picture that fills a box, or null where it is not on the map.
 * @param {Fields} fields
 * @param {Place} place
 * @param {Box} box
 * @param {Box} plane what is seen of it
 */
function spotOf(fields, place, box, plane) {
  const at = fields.grids[0].coordinates(place);
  if (!at) return null;
  const [across, down] = fields.pixel(...at);
  const [left, top, right, bottom] = fields.header.box;
  if (!(across >= left && across <= right && down >= top && down <= bottom)) return null;
  const [width, height] = fields.header.size;
  const x = box.left + (across / width) * box.width;
  const y = box.top + (down / height) * box.height;
  const isSeen =
    x >= plane.left - 1 &&
    x <= plane.left + plane.width + 1 &&
    y >= plane.top - 1 &&
    y <= plane.top + plane.height + 1;
  return isSeen ? { x, y } : null;
}
