import { modelTimeAxis, valueAxis } from "./axis.js";
import { csvLine, saveAs } from "./csv.js";
import { drawn, element, say } from "./element.js";
import { placeLabel } from "./place.js";
import { Plot } from "./plot.js";
import { showDuration, showUnits } from "./quantity.js";
import { newestWithValues } from "./series.js";
import { Traces } from "./traces.js";
import { timeSeconds } from "./valid_time.js";

/** @import { Series } from "./album.js" */
/** @import { Comparison } from "./comparison.js" */
/** @import { Pin } from "./pins.js" */
/** @import { SeriesStore } from "./series.js" */
/** @import { Tools, ViewState } from "./types.d.ts" */

const MOST = 12;
/** The lines of the runs: the page's own, then those beside it. */
const DASHES = ["none", "6 3", "1.5 2.5", "8 2 2 2", "12 3", "4 1.5 1.5 1.5"];

/**
 * A run whose values are drawn.
 * @typedef {Pick<Comparison, "run" | "album" | "fields" | "values">} Drawn
 */

/** The kept places: what they are, and the series of each shown product at them. */
export class Places {
  #list = element("ul", { className: "places" });
  #note = element("p", { className: "faint" });
  #legend = element("ul", { className: "runs", "aria-label": "Lines of the runs" });
  /** @type {Drawn[]} */
  #runs = [];
  /** @type {Map<string, Plot>} */
  #plots = new Map();
  #figures = element("div");
  #traces = new Traces();
  #store;
  #profile;
  /** @type {ViewState | null} */
  #state = null;
  /** @type {Series[]} */
  #shown = [];
  #drawnFor = "";

  #between = element(
    "button",
    { type: "button", className: "small", onclick: () => this.#across() },
    "Profile",
  );

  /**
   * @param {SeriesStore} store
   * @param {Tools} tools
   */
  constructor(store, { profile }) {
    this.#store = store;
    this.#profile = profile;
    this.element = element(
      "section",
      { "aria-label": "Kept places", hidden: true },
      element(
        "h2",
        {},
        "Places",
        element("span", { className: "gap" }),
        this.#between,
        element(
          "button",
          { type: "button", className: "small", onclick: () => this.#save() },
          "CSV",
        ),
      ),
      this.#list,
      this.#legend,
      this.#traces.element,
      this.#figures,
      this.#note,
    );
  }

  /**
   * `shown` are the series of the pictures that are seen, `guests` the runs beside the page's own.
   * @param {ViewState} state
   * @param {Series[]} shown
   * @param {Drawn[]} guests
   */
  show(state, shown, guests) {
    this.#state = state;
    const pins = state.pins.list;
    this.element.hidden = pins.length === 0;
    const { run, album, fields } = state;
    this.#runs = [{ run, album, fields, values: this.#store }, ...guests];
    this.#shown = pins.length ? shown.filter((one) => this.#of(one).length) : [];
    for (const { album, values } of this.#runs) {
      values.want(
        pins,
        this.#shown.flatMap(({ id }) => album.series.get(id) ?? []),
      );
    }
    this.#nameRuns();
    if (!pins.length) return;
    this.#traces.show(state, this.#shown);
    this.#name(pins, state);
    for (const [id, plot] of this.#plots) {
      if (this.#shown.some((series) => series.id === id)) continue;
      plot.element.remove();
      this.#plots.delete(id);
    }
    for (const series of this.#shown) this.#plot(series, pins, state.player.time);
    say(this.#note, noteOf(this.#shown) + this.#traces.note);
  }

  /**
   * The runs that have values of a series, in the units of the first one: their place among the runs,
   * and their own series of it.
   * @param {Series} series
   */
  #of({ id }) {
    const having = this.#runs.flatMap(({ run, album, values }, at) => {
      const series = album.series.get(id);
      const line = series && newestWithValues(series);
      return line ? [{ run, values, at, series, units: line.facts?.units ?? "" }] : [];
    });
    return having.filter(({ units }) => units === having[0].units);
  }

  /** Which line is whose, where there are several runs; a run without values is named as one. */
  #nameRuns() {
    const having = new Set(this.#shown.flatMap((one) => this.#of(one).map(({ at }) => at)));
    const texts = this.#runs.map(({ run }, at) =>
      having.has(at) ? run : `${run}: no values in these units`,
    );
    this.#legend.hidden = texts.length < 2;
    if (this.#legend.dataset.runs === texts.join("|")) return;
    this.#legend.dataset.runs = texts.join("|");
    this.#legend.replaceChildren(
      ...texts.map((text, at) => {
        const line = drawn("path", { class: "curve", d: "M0 5H34" });
        line.style.strokeDasharray = DASHES[at];
        const sample = drawn("svg", { width: 34, height: 10, "aria-hidden": true }, line);
        return element("li", {}, sample, element("span", {}, text));
      }),
    );
  }

  /**
   * @param {Pin[]} pins
   * @param {ViewState} state
   */
  #name(pins, state) {
    const grid = this.#gridOf(state);
    const names = pins.map((pin) => pin.name + this.#traces.near(pin)).join() + (grid ? " " : "");
    if (names === this.#drawnFor) return;
    this.#drawnFor = names;
    this.#between.hidden = pins.length < 2;
    say(
      this.#between,
      `Profile ${pins
        .slice(-2)
        .map(({ name }) => name)
        .join("–")}`,
    );
    this.#list.replaceChildren(
      ...pins.map((pin, at) => {
        const remove = element(
          "button",
          {
            type: "button",
            className: "small",
            "aria-label": `Remove place ${pin.name}`,
            onclick: () => state.pins.remove(pin),
          },
          "×",
        );
        const sign = element("span", { className: `pin pin-${at}` }, pin.name);
        sign.style.setProperty("--pin", pin.colour);
        const label = placeLabel(pin.place, grid) + this.#traces.near(pin);
        return element("li", {}, sign, element("span", {}, label), remove);
      }),
    );
  }

  /**
   * A grid that is shown, for the units of places that are not on the earth.
   * @param {ViewState} state
   */
  #gridOf({ fields, player }) {
    for (const series of this.#shown) {
      const line = player.time === null ? undefined : series.at(player.time);
      const held = line && fields.get(line);
      if (held) return held.grids[0].facts;
    }
    return undefined;
  }

  /**
   * @param {Series} series
   * @param {Pin[]} pins
   * @param {string | null} time
   */
  #plot(series, pins, time) {
    let plot = this.#plots.get(series.id);
    if (!plot) {
      plot = new Plot(
        series.product,
        Array.from({ length: MOST * DASHES.length }, (_, at) => `pin-${at % MOST}`),
        { gaps: true },
      );
      this.#plots.set(series.id, plot);
      this.#figures.append(plot.element);
    }
    const runs = this.#of(series);
    const times = [...new Set(runs.flatMap((one) => one.series.times))].sort();
    /** @type {(number | undefined)[][]} */
    const lists = Array.from({ length: MOST * DASHES.length }, () => []);
    let [done, whole] = [0, 0];
    for (const { values, at, series: own } of runs) {
      whole += own.times.length;
      done += Math.min(...pins.map((pin) => values.count(pin, own)));
      for (const [index, pin] of pins.entries()) {
        lists[at * MOST + index] = values.values(pin, own, times);
        plot.colour(at * MOST + index, pin.colour, DASHES[at]);
      }
    }
    const known = lists
      .flat()
      .filter((one) => one !== undefined)
      .filter(Number.isFinite);
    const { x, at } = modelTimeAxis(times);
    const units = showUnits(runs[0].units);
    /** @type {[string, string][]} */
    const heading = [[done < whole ? `${units} · ${done} of ${whole} frames` : units, ""]];
    plot.show(heading, x, valueAxis(known), at, lists);
    plot.point(time === null ? NaN : timeSeconds(time));
  }

  /** Take the values between the two places that were kept last. */
  #across() {
    const [from, to] = (this.#state?.pins.list ?? []).slice(-2);
    if (to) this.#profile.draw([from.place, to.place]);
  }

  /** Download all series that are shown. */
  #save() {
    const pins = this.#state?.pins.list ?? [];
    const columns = ["run", "product", "units", "stream", "station", "time"];
    const rows = [[...columns, ...pins.map(({ name }) => name)]];
    const grid = this.#state ? this.#gridOf(this.#state) : undefined;
    for (const pin of pins) {
      rows.unshift([`# ${pin.name}: ${placeLabel(pin.place, grid)}${this.#traces.near(pin)}`]);
    }
    for (const { run, values, series, units } of this.#shown.flatMap((one) => this.#of(one))) {
      const { product, stream, times } = series;
      const lists = pins.map((pin) => values.values(pin, series, times));
      times.forEach((time, at) => {
        const cells = lists.map((list) => (Number.isFinite(list[at]) ? String(list[at]) : ""));
        rows.push([run, product, units, stream, "", time, ...cells]);
      });
    }
    for (const row of this.#traces.rows(pins)) rows.push([this.#runs[0].run, ...row]);
    const content = new Blob(rows.map(csvLine), { type: "text/csv" });
    saveAs(content, `${this.#state?.run || "run"}-places.csv`);
  }
}

/**
 * How far frames are apart: values between them are not known.
 * @param {Series[]} shown
 */
function noteOf(shown) {
  const apart = shown.flatMap(({ times }) =>
    times.slice(1).map((time, at) => timeSeconds(time) - timeSeconds(times[at])),
  );
  const known = apart.filter((one) => one > 0).sort((a, b) => a - b);
  if (!known.length) return shown.length ? "" : "The pictures that are shown have no values.";
  const between = showDuration(known[known.length >> 1]);
  return `One value per frame, every ${between}: not a seismogram, and no record of each time step.`;
}
