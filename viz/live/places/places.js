import { modelTimeAxis, valueAxis } from "../elements/axis.js";
import { drawn, element, say } from "../elements/element.js";
import { Plot } from "../elements/plot.js";
import { showDuration, showUnits } from "../elements/quantity.js";
import { axisKind, timeSeconds } from "../elements/valid_time.js";
import { csvLine, csvNote, saveAs } from "../sharing/csv.js";
import { isStaleIn } from "../time/album.js";
import { placeLabel } from "../values/place.js";
import { newestWithValues } from "../values/series.js";
import { Traces } from "./traces.js";

/** @import { Series } from "../time/album.js" */
/** @import { Comparison } from "../wall/comparison.js" */
/** @import { Pin } from "./pins.js" */
/** @import { SeriesStore } from "../values/series.js" */
/** @import { GridFacts, Tools, ViewState } from "../types.d.ts" */

const MOST = 12;
/** The lines of the runs: the page's own, then those beside it. */
const DASHES = ["none", "6 3", "1.5 2.5", "8 2 2 2", "12 3", "4 1.5 1.5 1.5"];

/**
 * A run whose values are drawn.
 * @typedef {Pick<Comparison, "run" | "album" | "fields" | "values">} Drawn
 */
/**
 * A run that has values of a series: its place among the runs, and its own series.
 * @typedef {Pick<Drawn, "run" | "values"> & { at: number, series: Series, units: string }} Having
 */

/** The kept places: what they are, and the series of each shown product at them. */
export class Places {
  #list = element("ul", { className: "places" });
  #note = element("p", { className: "faint" });
  #legend = element("ul", { className: "runs", "aria-label": "Lines of the runs" });
  /** @type {Drawn[]} */
  #runs = [];
  /** @type {Map<string, { plot: Plot, drawnFor: string }>} by series */
  #plots = new Map();
  #figures = element("div");
  #traces = new Traces();
  #store;
  #profile;
  /** @type {ViewState | null} */
  #state = null;
  /** @type {Map<Series, Having[]>} by series that is shown and has values */
  #having = new Map();
  #foundFor = "";
  #apart = "";
  /** @type {GridFacts | undefined} */
  #grid;
  /** @type {Pin[]} */
  #named = [];
  #labels = "";

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
    this.#find(pins.length ? shown : []);
    const having = [...this.#having.values()].flat();
    for (const [at, { album, values }] of this.#runs.entries()) {
      const own = having.filter((one) => one.at === at).map(({ series }) => series);
      values.want(pins, own, album.version);
    }
    if (!pins.length) return;
    const seen = [...this.#having.keys()];
    this.#traces.show(state, seen);
    this.#name(pins, state);
    for (const [id, { plot }] of this.#plots) {
      if (seen.some((series) => series.id === id)) continue;
      plot.element.remove();
      this.#plots.delete(id);
    }
    for (const [series, runs] of this.#having) this.#plot(series, runs, pins, state);
    say(this.#note, this.#apart + this.#traces.note);
  }

  /**
   * Find which runs have values of what is shown, after it has changed or lines have come.
   * @param {Series[]} shown
   */
  #find(shown) {
    const ids = shown.map(({ id }) => id);
    const key = JSON.stringify([ids, this.#runs.map(({ run, album }) => [run, album.version])]);
    if (key === this.#foundFor) return;
    this.#foundFor = key;
    const found = shown.map((one) => /** @type {const} */ ([one, this.#of(one)]));
    this.#having = new Map(found.filter(([, runs]) => runs.length));
    this.#apart = noteOf([...this.#having.keys()]);
    this.#nameRuns();
  }

  /**
   * The runs that have values of a series, in the units of the first one.
   * @param {Series} series
   * @returns {Having[]}
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
    const having = new Set([...this.#having.values()].flat().map(({ at }) => at));
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
    this.#grid = this.#gridOf(state) ?? this.#grid;
    const labels = pins.map((pin) => placeLabel(pin.place, this.#grid) + this.#traces.near(pin));
    if (pins === this.#named && labels.join() === this.#labels) return;
    this.#named = pins;
    this.#labels = labels.join();
    this.#between.hidden = pins.length < 2;
    say(
      this.#between,
      `Profile ${pins
        .slice(-2)
        .map(({ name }) => name)
        .join("–")}`,
    );
    const focused = [...this.#list.children].findIndex((one) => one.matches(":focus-within"));
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
        return element("li", {}, sign, element("span", {}, labels[at]), remove);
      }),
    );
    const beside = this.#list.children[Math.min(focused, pins.length - 1)];
    beside?.querySelector("button")?.focus();
  }

  /**
   * A grid that is shown, for the units of places that are not on the earth.
   * @param {ViewState} state
   */
  #gridOf({ fields, player }) {
    for (const series of this.#having.keys()) {
      const line = player.time === null ? undefined : series.at(player.time);
      const held = line && fields.get(line);
      if (held) return held.grids[0].facts;
    }
    return undefined;
  }

  /**
   * @param {Series} series
   * @param {Having[]} runs
   * @param {Pin[]} pins
   * @param {ViewState} state
   */
  #plot({ id, product, calendar }, runs, pins, { pins: kept, player }) {
    let known = this.#plots.get(id);
    if (!known) {
      const curves = Array.from({ length: MOST * DASHES.length }, (_, at) => `pin-${at % MOST}`);
      known = { plot: new Plot(product, curves, { gaps: true }), drawnFor: "" };
      this.#plots.set(id, known);
      this.#figures.append(known.plot.element);
    }
    const versions = runs.map(({ at, values, series }) => [at, values.version(pins, series)]);
    const key = `${kept.write()} ${versions} ${this.#foundFor}`;
    // Over ten thousand frames curves take longer to draw than a picture is shown while playing.
    if (key !== known.drawnFor) drawCurves(known.plot, runs, pins);
    known.drawnFor = key;
    known.plot.point(player.time === null ? NaN : timeSeconds(player.time, calendar));
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
    const notes = pins.map((pin) => {
      const label = placeLabel(pin.place, this.#grid) + this.#traces.near(pin);
      return csvNote(`${pin.name}: ${label}`);
    });
    for (const { run, values, series, units } of [...this.#having.values()].flat()) {
      const { product, stream, times } = series;
      const lists = pins.map((pin) => values.values(pin, series, times));
      times.forEach((time, at) => {
        const cells = lists.map((list) => (Number.isFinite(list[at]) ? String(list[at]) : ""));
        const seconds = axisKind(time) === "elapsed" ? `${timeSeconds(time)}` : time;
        rows.push([run, product, units, stream, "", seconds, ...cells]);
      });
    }
    for (const row of this.#traces.rows(pins)) rows.push([this.#runs[0].run, ...row]);
    const content = new Blob([...notes, ...rows.map(csvLine)], { type: "text/csv" });
    saveAs(content, `${this.#state?.run || "run"}-places.csv`);
  }
}

/**
 * @param {Plot} plot
 * @param {Having[]} runs
 * @param {Pin[]} pins
 */
function drawCurves(plot, runs, pins) {
  const all = runs.map(({ series }) => series.times);
  const times = all.length > 1 ? [...new Set(all.flat())].sort() : all[0];
  /** @type {(number | undefined)[][]} */
  const lists = Array.from({ length: MOST * DASHES.length }, () => []);
  let [done, whole] = [0, 0];
  for (const { values, at, series } of runs) {
    whole += series.times.length;
    done += Math.min(...pins.map((pin) => values.count(pin, series)));
    for (const [index, pin] of pins.entries()) {
      lists[at * MOST + index] = values.values(pin, series, times);
      plot.colour(at * MOST + index, pin.colour, DASHES[at]);
    }
  }
  const known = lists
    .flat()
    .filter((one) => one !== undefined)
    .filter(Number.isFinite);
  const { x, at } = modelTimeAxis(times, runs[0].series.calendar);
  const units = showUnits(runs[0].units);
  /** @type {[string, string][]} */
  const heading = [[done < whole ? `${units} · ${done} of ${whole} frames` : units, ""]];
  const stale = times.map((time) => isStaleIn([runs[0].series], time));
  plot.show(heading, x, valueAxis(known), at, lists, stale);
}

/**
 * How far frames are apart: values between them are not known.
 * @param {Series[]} shown
 */
function noteOf(shown) {
  const apart = shown.flatMap(({ times, calendar }) => {
    const seconds = times.map((time) => timeSeconds(time, calendar));
    return seconds.slice(1).map((second, at) => second - seconds[at]);
  });
  const known = apart.filter((one) => one > 0).sort((a, b) => a - b);
  if (!known.length) return shown.length ? "" : "The pictures that are shown have no values.";
  const between = showDuration(known[known.length >> 1]);
  const elapsed = axisKind(shown[0].times[0]) === "elapsed";
  const not = elapsed ? "not a seismogram, and no record" : "no record";
  return `One value per frame, every ${between}: ${not} of each time step.`;
}
