import { modelTimeAxis, valueAxis } from "./axis.js";
import { element, say } from "./element.js";
import { placeLabel } from "./place.js";
import { Plot } from "./plot.js";
import { showDuration, showUnits } from "./quantity.js";
import { hasValues, newestWithValues } from "./series.js";
import { Traces } from "./traces.js";
import { timeSeconds } from "./valid_time.js";

/** @import { Series } from "./album.js" */
/** @import { Pin } from "./pins.js" */
/** @import { SeriesStore } from "./series.js" */
/** @import { Tools, ViewState } from "./types.d.ts" */

const MOST = 12;

/** The kept places: what they are, and the series of each shown product at them. */
export class Places {
  #list = element("ul", { className: "places" });
  #note = element("p", { className: "faint" });
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
      this.#traces.element,
      this.#figures,
      this.#note,
    );
  }

  /**
   * `shown` are the series of the pictures that are seen.
   * @param {ViewState} state
   * @param {Series[]} shown
   */
  show(state, shown) {
    this.#state = state;
    const pins = state.pins.list;
    this.element.hidden = pins.length === 0;
    this.#shown = pins.length ? shown.filter(hasValues) : [];
    this.#store.want(pins, this.#shown);
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
        Array.from({ length: MOST }, (_, at) => `pin-${at}`),
      );
      this.#plots.set(series.id, plot);
      this.#figures.append(plot.element);
    }
    const lists = pins.map((pin) => this.#store.values(pin, series));
    const known = lists.flat().filter(Number.isFinite);
    const { x, at } = modelTimeAxis(series.times);
    const whole = series.times.length;
    const done = Math.min(...pins.map((pin) => this.#store.count(pin, series)));
    const units = showUnits(newestWithValues(series)?.facts?.units ?? "");
    /** @type {[string, string][]} */
    const heading = [[done < whole ? `${units} · ${done} of ${whole} frames` : units, ""]];
    while (lists.length < MOST) lists.push([]);
    for (const [index, pin] of pins.entries()) plot.colour(index, pin.colour);
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
    const rows = [["product", "stream", "time", ...pins.map(({ name }) => name)]];
    const grid = this.#state ? this.#gridOf(this.#state) : undefined;
    for (const pin of pins) {
      rows.unshift([`# ${pin.name}: ${placeLabel(pin.place, grid)}${this.#traces.near(pin)}`]);
    }
    for (const series of this.#shown) {
      const lists = pins.map((pin) => this.#store.values(pin, series));
      series.times.forEach((time, at) => {
        const values = lists.map((list) => (Number.isFinite(list[at]) ? String(list[at]) : ""));
        rows.push([series.product, series.stream, time, ...values]);
      });
    }
    rows.push(...this.#traces.rows(pins));
    const text = rows.map((row) => row.map(quoted).join(",")).join("\n");
    const url = URL.createObjectURL(new Blob([`${text}\n`], { type: "text/csv" }));
    const link = element("a", { href: url, download: `${this.#state?.run || "run"}-places.csv` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
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

/** @param {string} text */
function quoted(text) {
  // A text that begins with one of these is a formula to a spreadsheet.
  const safe = /^[=+@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
