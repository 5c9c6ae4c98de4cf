import { timeLabel } from "../elements/valid_time.js";
import { unitsOfDifference } from "../elements/value_label.js";
import { namesIn, namesOut } from "../sharing/address.js";
import { differenceOf } from "../values/difference.js";
import { MAPS } from "./maps.js";
import { coloursOf, rampOf, repainted } from "./paint.js";
import { Plane } from "./plane.js";

/** @import { Fields } from "../values/fields.js" */
/** @import { Difference } from "../values/difference.js" */
/** @import { Bar } from "./paint.js" */
/** @import { Changed } from "../types.d.ts" */

/**
 * How a reader wants to see a product: limits (null: the picture's), a colour map (null: the
 * picture's), and from what its values are taken away: the first frame, the one before, or the
 * other run's; limits and map are then those of the difference.
 * @typedef {object} Look
 * @property {[low: number, high: number] | null} limits
 * @property {string | null} map
 * @property {"" | "first" | "before" | "run"} minus
 * @property {boolean} extremes whether the smallest and largest value are marked
 */

const DIVERGING = "vik";
/** Ends the name of a series' look in the comparison mode "difference". */
const AGAINST = " − ";
const HELD_BYTES = 256 * 2 ** 20;
const MINUS = /** @type {const} */ (["first", "before", "run"]);

/** @type {Look} */
const PLAIN = { limits: null, map: null, minus: "", extremes: false };

/** The looks that a reader has chosen, by series, and the pictures painted so. */
export class Looks {
  /** @type {Map<string, Look>} */
  #chosen = new Map();
  /** @type {Map<string, Painted>} the most recently used is the last */
  #held = new Map();
  #bytes = 0;
  /** @type {Map<string, WeakRef<Painted>>} those that views show are held by these */
  #painted = new Map();
  #changed;
  #most;

  /**
   * @param {Changed} changed
   * @param {number} [bytes] of the pictures that are held beside those that are shown
   */
  constructor(changed, bytes = HELD_BYTES) {
    this.#changed = changed;
    this.#most = bytes;
  }

  /**
   * The look of a series, or of its difference from another run (`asDifference`).
   * @param {string} series
   */
  of(series) {
    const look = this.#chosen.get(series) ?? PLAIN;
    return series.endsWith(AGAINST) ? { ...look, minus: MINUS[2] } : look;
  }

  /**
   * Change a part of a series' look.
   * @param {string} series
   * @param {Partial<Look>} parts
   */
  choose(series, parts) {
    this.#chosen.set(series, { ...this.of(series), ...parts });
    this.#changed();
  }

  /**
   * Look at a series as it was drawn.
   * @param {string} series
   */
  reset(series) {
    this.#chosen.delete(series);
    this.#changed();
  }

  /** The looks for a link. */
  write() {
    const looks = [...this.#chosen].map(([series, { limits, map, minus, extremes }]) =>
      [nameOut(series), limits?.join(";") ?? "", map ?? "", minus, extremes ? "1" : ""].join(":"),
    );
    return looks.join("|");
  }

  /**
   * Take the looks of a link, and no others.
   * @param {string} text
   */
  read(text) {
    if (text === this.write()) return;
    this.#chosen.clear();
    for (const part of text.split("|")) {
      const [name, ends, map, minus, marks] = part.split(":");
      const [low, high] = (ends ?? "").split(";").map(Number);
      const [series] = namesIn(name ?? "");
      if (!series) continue;
      this.#chosen.set(series, {
        limits: ends && areLimits(low, high) ? [low, high] : null,
        map: map && Object.hasOwn(MAPS, map) ? map : null,
        minus: MINUS.find((one) => one === minus) ?? "",
        extremes: marks === "1",
      });
    }
    this.#changed();
  }

  /**
   * A picture in a look; the same object for the same picture and look.
   * @param {Paintable} paintable
   */
  paint(paintable) {
    const { look, fields, other } = paintable;
    const key = [fields.key, other?.key, look.limits, look.map, look.minus].join("|");
    const painted = this.#painted.get(key)?.deref() ?? paintedIn(paintable);
    if (!this.#held.delete(key)) this.#bytes += painted.bytes;
    this.#held.set(key, painted);
    this.#painted.set(key, new WeakRef(painted));
    if (this.#bytes > this.#most) this.#release();
    return painted;
  }

  #release() {
    for (const [key, { bytes }] of this.#held) {
      if (this.#bytes <= this.#most) break;
      this.#held.delete(key);
      this.#bytes -= bytes;
    }
    for (const [key, one] of this.#painted) if (!one.deref()) this.#painted.delete(key);
  }
}

/**
 * The name under which a series has its look as a difference from another run.
 * @param {string} series
 */
export function asDifference(series) {
  return series + AGAINST;
}

/**
 * Whether pictures of a look are painted here, so that their values are needed.
 * @param {Look} look
 */
export function isPainted({ limits, map, minus }) {
  return limits !== null || map !== null || minus !== "";
}

/**
 * What is needed to paint a picture; `other` are the values that are taken away, of `minus`.
 * @typedef {object} Paintable
 * @property {Look} look
 * @property {ImageBitmap} picture
 * @property {Fields} fields
 * @property {Fields | null} other
 */

/**
 * The limits of a picture's colours in a look, and their units.
 * @param {Paintable} paintable
 * @returns {{ limits: [low: number, high: number], units: string }}
 */
export function limitsIn({ look: { limits }, fields, other }) {
  const units = fields.header.fields[0].printed;
  if (!other) return { limits: limits ?? fields.header.colours.limits, units };
  const bound = limits ? 0 : differenceOf(fields, other).bound;
  return { limits: limits ?? [-bound, bound], units: unitsOfDifference(units) };
}

/**
 * @typedef {object} Painted
 * @property {OffscreenCanvas} canvas
 * @property {Plane} plane
 * @property {[number, number]} limits
 * @property {Difference | null} difference
 * @property {string} minus what is taken away, in words
 * @property {Bar} bar
 * @property {number} bytes about how much memory it takes, with its values
 */

/**
 * Whether two numbers are far enough apart for colours between them.
 * @param {number} low
 * @param {number} high
 */
export function areLimits(low, high) {
  const apart = high - low;
  return Number.isFinite(apart) && apart > 1e-9 * Math.max(Math.abs(low), Math.abs(high));
}

/** @param {string} series */
function nameOut(series) {
  return namesOut([series]).replace(/[|:]/g, encodeURIComponent);
}

/**
 * What is taken away, in words.
 * @param {Fields} mine
 * @param {Fields} other
 */
function noteOf({ header }, { header: base, run }) {
  return header.time === base.time && run ? run : timeLabel(base.time);
}

/**
 * @param {Paintable} paintable
 * @returns {Painted}
 */
function paintedIn(paintable) {
  const { look, picture, fields, other } = paintable;
  const own = fields.header.colours;
  const { limits, units } = limitsIn(paintable);
  const difference = other && differenceOf(fields, other);
  const ramp = other ? rampOf({ ...own, edges: [] }, look.map ?? DIVERGING) : rampOf(own, look.map);
  const log = !other && own.log && limits[0] > 0;
  const minus = other ? noteOf(fields, other) : "";
  /** @type {Bar} */
  const bar = { ramp, limits, log, units, ...(other ? { note: `minus ${minus}` } : {}) };
  const plane = new Plane(fields, (number) =>
    difference
      ? coloursOf(difference.values[number], ramp, limits, log)
      : fields.each(number, (values) => coloursOf(values, ramp, limits, log)),
  );
  const canvas = repainted(picture, fields, plane.colours, bar);
  const bytes = 4 * canvas.width * canvas.height + fields.bytes;
  return { canvas, plane, limits, difference, minus, bar, bytes };
}
