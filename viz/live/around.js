import { limitsOf } from "./caption.js";
import { rampOf } from "./paint.js";
import { timeLabel } from "./valid_time.js";

/** @import { Fields } from "./fields.js" */
/** @import { Painted } from "./looks.js" */
/** @import { Bar } from "./paint.js" */
/** @import { Around } from "./surround.js" */
/** @import { IndexLine } from "./types.d.ts" */

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
    const { colours, fields: shown } = known.header;
    if (!painted && colours.edges.length) return null; // steps with names of their own
    const [{ long_name: name, variable, level, printed }] = shown;
    const limits = limitsOf(facts) ?? colours.limits;
    /** @type {Bar} */
    const own = { ramp: rampOf(colours, null), limits, log: colours.log, units: printed };
    const bar = painted?.bar ?? own;
    const [low, high] = bar.limits;
    const { min = low, max = high, outside = [] } = facts;
    const ends = painted ? [min < low, max > high] : [0, 1].map((end) => (outside[end] ?? 0) > 0);
    return {
      fields: known,
      title: [inWords(variable, name), level].filter(Boolean).join(", "),
      when: timeLabel(line.time),
      legend: facts.legend ?? [],
      bar,
      beyond: painted?.difference ? [true, true] : ends, // a difference's limits leave some out
    };
  }
}

/**
 * A variable as a heading, as on the picture: "Air temperature" for "air_temperature".
 * @param {string} variable
 * @param {string} name
 */
function inWords(variable, name) {
  const isStandard = /^[a-z]+(_[a-z0-9]+)+$/.test(name) && name !== variable;
  const words = isStandard ? name.replaceAll("_", " ") : name || variable;
  const isExpression = variable.startsWith(words) && !/^\p{L}+$/u.test(words);
  return isExpression ? words : words.slice(0, 1).toUpperCase() + words.slice(1);
}

/**
 * Whether a picture has the plane of one whose values are known.
 * @param {Fields} known
 * @param {IndexLine} line
 */
function fits({ header }, { product, stream, facts }) {
  const own = [product, stream, facts?.box, facts?.extent, facts?.size];
  const theirs = [header.product, header.stream, header.box, header.extent, header.size];
  return JSON.stringify(own) === JSON.stringify(theirs);
}
