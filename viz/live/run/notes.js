import { element, say } from "../elements/element.js";
import { clockTime, counted, showBytes } from "../elements/quantity.js";
import { sizeOf } from "../time/album.js";
import { objects } from "../time/marks.js";
import { caveat } from "./attached.js";

/** @import { Album, Series } from "../time/album.js" */
/** @import { Player } from "../time/player.js" */
/** @import { GuardPart, Message } from "../status.d.ts" */
/** @import { Mark, Source, ViewState } from "../types.d.ts" */

/**
 * The extension of the file that joins a series for ParaView, by that of the series' files.
 * @type {Record<string, string>}
 */
const SERIES = { vti: "pvd", vtr: "pvd", vts: "pvd", vtkhdf: "vtkhdf" };
const KINDS = {
  alarm: "Alarm",
  trip: "Guard",
  stop: "Guard, asked for a stop",
  late: "Guard, after the model's end",
};

/** Alarms and trips, files other than pictures, and the latest events. */
export class Notes {
  #choose;
  #alarms = section("Alarms");
  #files = section("Files");
  #events = section("Last events");
  #guards = section("Guards");
  #shownMarks = "";
  #shownEvents = "";
  #shownGuards = "";
  /** @type {Map<string, FileRow>} */
  #rows = new Map();

  /**
   * `choose(mark)` is called for a mark in the list.
   * @param {(mark: Mark) => void} choose
   */
  constructor(choose) {
    this.#choose = choose;
    const parts = [this.#alarms, this.#guards, this.#files, this.#events];
    this.element = element("div", { className: "notes" }, ...parts.map((part) => part.element));
  }

  /** Bring the list of alarms into sight. */
  scroll() {
    this.#alarms.element.scrollIntoView({ block: "start" });
  }

  /** @param {ViewState} state */
  show({ status, album, player, source, marks, chosen }) {
    this.#showMarks(marks, chosen);
    this.#showGuards(objects(status?.guards));
    this.#showFiles(album, player, source);
    this.#showEvents(objects(status?.events));
  }

  /**
   * @param {Mark[]} marks
   * @param {string} chosen
   */
  #showMarks(marks, chosen) {
    const name = JSON.stringify([marks, chosen]);
    if (name === this.#shownMarks) return;
    this.#shownMarks = name;
    this.#alarms.fill(
      marks
        .slice()
        .reverse()
        .map((mark) => {
          return element(
            "li",
            { className: mark.kind },
            element(
              "button",
              {
                type: "button",
                className: "mark",
                "aria-current": JSON.stringify(mark) === chosen,
                onclick: () => this.#choose(mark),
              },
              element("span", { className: "kind" }, `${KINDS[mark.kind]}, ${clockTime(mark.t)}`),
              element("span", { className: "text" }, mark.text),
              element("span", { className: "where" }, mark.where),
            ),
          );
        }),
      counted(marks.length, "entry").replace("entrys", "entries"),
    );
  }

  /** @param {GuardPart[]} guards */
  #showGuards(guards) {
    const name = JSON.stringify(guards);
    if (name === this.#shownGuards) return;
    this.#shownGuards = name;
    this.#guards.fill(
      guards.map(({ name: guard, text, state }) =>
        element(
          "li",
          {},
          element("span", { className: "text" }, [guard, text].filter(Boolean).join(": ")),
          element("span", { className: "where" }, String(state ?? "")),
        ),
      ),
    );
  }

  /**
   * @param {Album} album
   * @param {Player} player
   * @param {Source} source
   */
  #showFiles(album, player, source) {
    const rows = album.files.map((series) => {
      const row = this.#rows.get(series.id) ?? new FileRow();
      this.#rows.set(series.id, row);
      row.show(series, player.time, source);
      return row.element;
    });
    if (this.#files.list.childElementCount !== rows.length) this.#files.fill(rows);
  }

  /** @param {Message[]} events */
  #showEvents(events) {
    const name = JSON.stringify(events);
    if (name === this.#shownEvents) return;
    this.#shownEvents = name;
    this.#events.fill(
      events
        .slice()
        .reverse()
        .map(({ t, text }) => element("li", {}, `${clockTime(t ?? NaN)}  ${text}`)),
    );
  }
}

/** The file of a series at the time that is shown, and the series as a whole for ParaView. */
class FileRow {
  #file = element("a", { download: "" });
  #size = element("span", { className: "where" });
  #all = element("a", { download: "" });
  #total = element("span", { className: "where" });

  constructor() {
    this.element = element(
      "li",
      {},
      element("span", { className: "row" }, this.#file, this.#size),
      element("span", { className: "row" }, this.#all, this.#total),
    );
  }

  /**
   * @param {Series} series
   * @param {string | null} time
   * @param {Source} source
   */
  show(series, time, source) {
    const line = time === null ? undefined : series.at(time);
    const url = line ? source.link(line.name) : null;
    say(this.#file, line ? line.name.slice(line.name.lastIndexOf("/") + 1) : series.product);
    link(this.#file, url);
    const size = line?.bytes === undefined ? "" : showBytes(sizeOf(line));
    say(this.#size, [size, caveat(line), line?.stale && "stale"].filter(Boolean).join(", "));
    const end = SERIES[series.extension];
    const whole = end ? `${series.product}.${end}` : "";
    say(this.#all, whole);
    link(this.#all, whole ? source.link(whole) : null);
    say(this.#total, `${counted(series.times.length, "file")}, ${showBytes(series.bytes)}`);
  }
}

/**
 * @param {HTMLAnchorElement} anchor
 * @param {string | null} url
 */
function link(anchor, url) {
  if (url === null) anchor.removeAttribute("href");
  else if (anchor.getAttribute("href") !== url) anchor.setAttribute("href", url);
}

/**
 * A list under a heading, hidden while the list is empty.
 * @param {string} title
 */
function section(title) {
  const list = element("ul", {});
  const count = element("span", { className: "value" });
  const whole = element(
    "section",
    { className: title.toLowerCase().replace(" ", "-"), hidden: true },
    element("h2", {}, title, " ", count),
    list,
  );
  return {
    element: whole,
    list,
    /**
     * @param {HTMLElement[]} items
     * @param {string} [heading]
     */
    fill(items, heading = "") {
      list.replaceChildren(...items);
      whole.hidden = items.length === 0;
      say(count, heading);
    },
  };
}
