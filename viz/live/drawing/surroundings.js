import { timeLabel } from "../elements/valid_time.js";
import { placeLabel } from "../values/place.js";
import { limitsOf } from "./caption.js";
import { rampOf } from "./paint.js";

/** @import { Fields } from "../values/fields.js" */
/** @import { Painted } from "./looks.js" */
/** @import { Bar } from "./paint.js" */
/** @import { Around } from "./draw_surroundings.js" */
/** @import { IndexLine } from "../types.d.ts" */

/** What one view knows of its series' pictures, so that it can draw what is around their planes. */
export class Surroundings {
  /** @type {Fields | null} of a picture of the series */
  #fields = null;
  /** The name of that picture's colours. */
  #map = "";
  /** Whether the values of the picture that is seen are needed for it. */
  needs = false;

  /**
   * What is around a picture; null where the picture is shown as it was drawn: it has no plane, or
   * values of the series are not loaded yet.
   * @param {IndexLine | undefined} line
   * @param {Fields | null} fields its own, where they are loaded
   * @param {Painted | null} painted
   * @returns {Around | null}
   */
  of(line, fields, painted) {
    this.needs = false;
    const facts = line?.facts;
    if (!line?.values || !facts?.box || !facts.extent) return null;
    const map = facts.colormap ?? "";
    if (fields && !(this.#fields && this.#map === map && fits(this.#fields, line))) {
      [this.#fields, this.#map] = [fields, map];
    }
    const known = this.#fields;
    if (!known || !fits(known, line) || this.#map !== map) {
      this.needs = true;
      return null;
    }
    const { colours, fields: shown, title, words } = known.header;
    // Steps may have names, which files of older versions do not say.
    if (!painted && colours.edges.length && !words) return null;
    const [{ long_name: name, variable, level, printed }] = shown;
    const between = (facts.ends ?? []).map(([lat, lon]) => placeLabel({ lat, lon }));
    const limits = limitsOf(facts) ?? colours.limits;
    /** @type {Bar} */
    const own = { ...colours, ramp: rampOf(colours, null), limits, units: printed };
    const bar = painted?.bar ?? own;
    const [low, high] = bar.limits;
    const { min = low, max = high, outside = [] } = facts;
    const ends = painted ? [min < low, max > high] : [0, 1].map((end) => (outside[end] ?? 0) > 0);
    return {
      fields: known,
      title: [title ?? (name || variable), facts.level ?? level].filter(Boolean).join(", "),
      subtitle: between.join(" to "),
      when: timeLabel(line.time),
      lead: facts.lead ?? "",
      legend: facts.legend ?? [],
      bar,
      beyond: painted?.difference ? [true, true] : ends, // a difference's limits leave some out
    };
  }
}

/**
 * What is around two pictures that lie over each other: the planes do so too.
 * @param {Around | null} mine
 * @param {Around | null} theirs
 * @returns {(Around | null)[]}
 */
export function laidOver(mine, theirs) {
  if (!mine || !theirs) return [null, null];
  const rows = Math.max(mine.legend.length, theirs.legend.length);
  return [mine, theirs].map((one) => ({
    ...one,
    legend: Array.from({ length: rows }, (_, at) => one.legend[at] ?? ""),
  }));
}

/**
 * By line or header, which stay the same objects: where the plane of its series lies.
 * @type {WeakMap<object, string>}
 */
const planes = new WeakMap();

/**
 * Whether a picture has the plane of one whose values are known.
 * @param {Fields} known
 * @param {IndexLine} line
 */
function fits({ header }, line) {
  return planeOf(line, line.facts ?? {}) === planeOf(header, header);
}

/**
 * @param {{ product: string, stream: string }} one
 * @param {{ box?: number[], extent?: number[], size?: number[] }} where
 */
function planeOf(one, { box, extent, size }) {
  let plane = planes.get(one);
  if (plane === undefined) {
    plane = JSON.stringify([one.product, one.stream, box, extent, size]);
    planes.set(one, plane);
  }
  return plane;
}
