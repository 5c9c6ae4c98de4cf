import { labelledTicks, valueAxis } from "../elements/axis.js";
import { element, say } from "../elements/element.js";
import { Plot } from "../elements/plot.js";
import { timeLabel } from "../elements/valid_time.js";
import { distance, placeIn, placeLabel, placeOut } from "../values/place.js";

/** @import { Fields } from "../values/fields.js" */
/** @import { Axis, Changed, IndexLine, Place } from "../types.d.ts" */

const POINTS = 240;

/**
 * A view: its name, the line that is seen and its values (null until they are loaded), and the time
 * that it holds, or null.
 * @typedef {{ name: string, line: IndexLine | undefined, fields: Fields | null, held: string | null,
 *   isMissing: boolean }} View
 */

/** A line that the reader has drawn across a map, and the values along it. */
export class Profile {
  /** @type {[Place, Place] | null} */
  ends = null;
  #link = "";
  #changed;
  #words = element("p", { className: "faint" });
  #figures = element("div");
  /** @type {Map<string, { plot: Plot, drawnFor: string }>} by view */
  #plots = new Map();
  #comesIntoSight = false;

  /** @param {Changed} changed */
  constructor(changed) {
    this.#changed = changed;
    const remove = element(
      "button",
      {
        type: "button",
        className: "small",
        "aria-label": "Remove the profile",
        onclick: () => this.draw(null),
      },
      "×",
    );
    this.element = element(
      "section",
      { "aria-label": "Profile", hidden: true },
      element("h2", {}, "Profile", remove),
      this.#words,
      this.#figures,
    );
  }

  /**
   * Take the values between two places from now on; null ends it. A line that is still being drawn is
   * in no link: each move of the pointer would be a step of the back button.
   * @param {[Place, Place] | null} ends
   * @param {boolean} [isDone]
   */
  draw(ends, isDone = true) {
    const link = isDone ? (ends?.map(placeOut).join("_") ?? "") : this.#link;
    if (link === this.#link && JSON.stringify(ends) === JSON.stringify(this.ends)) return;
    this.#comesIntoSight = isDone && ends !== null;
    this.ends = ends;
    this.#link = link;
    this.#changed();
  }

  /** The line for a link. */
  write() {
    return this.#link;
  }

  /**
   * Draw the line of a link, or none.
   * @param {string} text
   */
  read(text) {
    const [from, to] = text.split("_").map(placeIn);
    this.draw(from && to ? [from, to] : null);
    this.#comesIntoSight = false; // the link's reader looks at the map first
  }

  /**
   * Draw one plot per view of a map; while the values of its next frame are loaded it stays.
   * @param {View[]} views
   */
  show(views) {
    const { ends } = this;
    this.element.hidden = ends === null;
    if (!ends) return;
    const grid = views.find(({ fields }) => fields)?.fields?.grids[0].facts;
    say(this.#words, `From the dot, ${ends.map((end) => placeLabel(end, grid)).join(" to ")}`);
    for (const [name, { plot }] of this.#plots) {
      if (views.some((view) => view.name === name)) continue;
      plot.element.remove();
      this.#plots.delete(name);
    }
    const before = this.#plots.size;
    for (const { name, line, fields, held, isMissing } of views) {
      const known = this.#plots.get(name);
      if (fields && line && !fields.grids[0].isSection) {
        const { product, stream } = line;
        const several = views.some(
          (view) => view.line?.product === product && view.line.stream !== stream,
        );
        const about = [several ? stream : "", held === null ? "" : timeLabel(held)];
        this.#plot(name, product, about, fields, ends);
      } else if (known && (fields || isMissing)) {
        known.plot.hide();
        known.drawnFor = "";
      }
    }
    if (this.#plots.size !== before) {
      // In the order of the views, whichever's values came first.
      const figures = views.flatMap(({ name }) => this.#plots.get(name)?.plot.element ?? []);
      this.#figures.append(...figures);
    }
    if (this.#comesIntoSight && this.#plots.size) {
      this.#comesIntoSight = false;
      this.element.scrollIntoView({ block: "nearest" });
    }
  }

  /**
   * @param {string} view
   * @param {string} product
   * @param {string[]} about what distinguishes it from other views of the product
   * @param {Fields} fields
   * @param {[Place, Place]} ends
   */
  #plot(view, product, about, fields, ends) {
    let known = this.#plots.get(view);
    if (!known) {
      known = { plot: new Plot(product, ["made"]), drawnFor: "" };
      this.#plots.set(view, known);
    }
    const heading = [fields.header.fields[0].printed, ...about].filter(Boolean).join(" · ");
    const name = `${fields.key} ${heading} ${JSON.stringify(ends)}`;
    if (name === known.drawnFor) return;
    known.drawnFor = name;
    const { at, values, unit } = alongLine(fields, ends);
    const finite = values.filter(Number.isFinite);
    if (!finite.length) return known.plot.hide();
    const far = at[at.length - 1] || 1;
    /** @type {Axis} */
    const x = {
      low: 0,
      high: far,
      ticks: labelledTicks(0, far, 4).map(([v, label]) => [v, `${label} ${unit}`]),
    };
    known.plot.show([[heading, ""]], x, valueAxis(finite), at, [values]);
  }
}

/**
 * Distances from the first end, and the value of the point nearest to each place between.
 * @param {Fields} fields
 * @param {[Place, Place]} ends
 */
function alongLine(fields, ends) {
  const grid = fields.grids[0];
  const [from, to] = ends.map((end) => grid.coordinates(end));
  /** @type {number[]} */
  const at = [];
  /** @type {number[]} */
  const values = [];
  const km = grid.onEarth || grid.facts.x.units === "m" || grid.facts.x.units === "km";
  if (!from || !to) return { at, values, unit: "" };
  let far = 0;
  /** @type {Place | null} */
  let before = null;
  for (let step = 0; step < POINTS; step += 1) {
    const share = step / (POINTS - 1);
    const x = from[0] + share * (to[0] - from[0]);
    const y = from[1] + share * (to[1] - from[1]);
    const place = grid.place(x, y);
    if (before)
      far += distance(before, place) / (grid.facts.x.units === "m" && !grid.onEarth ? 1000 : 1);
    before = place;
    at.push(far);
    values.push(fields.at(x, y)?.value ?? NaN);
  }
  return { at, values, unit: km ? "km" : "" };
}
