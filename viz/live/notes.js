import { element, say } from "./element.js";
import { objects } from "./marks.js";
import { clockTime, counted, showBytes } from "./quantity.js";

/** The end of the file that joins a series for ParaView, by that of its files. */
const SERIES = { vti: "pvd", vtr: "pvd", vts: "pvd", vtkhdf: "vtkhdf" };
const KINDS = { alarm: "Alarm", trip: "Guard", stop: "Guard, stopped the model" };

/** What a person should read: alarms and trips, files beside the pictures, the last events. */
export class Notes {
  #choose;
  #alarms = section("Alarms");
  #files = section("Files");
  #events = section("Last events");
  #guards = section("Guards");
  #shownMarks = "";
  #shownEvents = "";
  #shownGuards = "";
  #rows = new Map();

  /** `choose(mark)` is called for a mark in the list. */
  constructor(choose) {
    this.#choose = choose;
    const parts = [this.#alarms, this.#guards, this.#files, this.#events];
    this.element = element("div", { className: "notes" }, ...parts.map((part) => part.element));
  }

  show({ status, album, player, source, marks, chosen }) {
    this.#showMarks(marks, chosen);
    this.#showGuards(objects(status?.guards));
    this.#showFiles(album, player, source);
    this.#showEvents(objects(status?.events));
  }

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

  #showGuards(guards) {
    const name = JSON.stringify(guards);
    if (name === this.#shownGuards) return;
    this.#shownGuards = name;
    this.#guards.fill(
      guards.map(({ name: guard, text, state }) =>
        element(
          "li",
          {},
          element("span", { className: "text" }, `${guard}${text ? `: ${text}` : ""}`),
          element("span", { className: "where" }, String(state ?? "")),
        ),
      ),
    );
  }

  #showFiles(album, player, source) {
    const { files } = album;
    for (const series of files) {
      if (!this.#rows.has(series.id)) this.#rows.set(series.id, new FileRow());
      this.#rows.get(series.id).show(series, player.time, source);
    }
    if (this.#files.list.childElementCount !== files.length) {
      this.#files.fill(files.map((series) => this.#rows.get(series.id).element));
    }
  }

  #showEvents(events) {
    const name = JSON.stringify(events);
    if (name === this.#shownEvents) return;
    this.#shownEvents = name;
    this.#events.fill(
      events
        .slice()
        .reverse()
        .map(({ t, text }) => element("li", {}, `${clockTime(t)}  ${text}`)),
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

  show(series, time, source) {
    const line = time === null ? undefined : series.at(time);
    const url = line ? source.link(line.name) : null;
    say(this.#file, line ? line.name.split("/").pop() : series.product);
    link(this.#file, url);
    say(this.#size, line ? showBytes(line.bytes) : "");
    const end = SERIES[series.extension];
    const whole = end ? `${series.product}.${end}` : "";
    say(this.#all, whole);
    link(this.#all, whole ? source.link(whole) : null);
    say(this.#total, `${counted(series.times.length, "file")}, ${showBytes(series.bytes)}`);
  }
}

function link(anchor, url) {
  if (url === null) anchor.removeAttribute("href");
  else if (anchor.getAttribute("href") !== url) anchor.setAttribute("href", url);
}

/** A list under a heading that is there only while the list holds something. */
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
    fill(items, told = "") {
      list.replaceChildren(...items);
      whole.hidden = items.length === 0;
      say(count, told);
    },
  };
}
