import { element, say } from "../elements/element.js";
import { showBytes } from "../elements/quantity.js";
import { LogFile } from "../sources/log_file.js";
import { messageOf } from "../sources/source.js";
import { isOver } from "./standing.js";

/** @import { RunStatus } from "../status.d.ts" */
/** @import { Mark, Source, ViewState } from "../types.d.ts" */

const EVERY_MS = 1000;
/** Pixels from an end of the window at which more is read. */
const NEAR = 300;
const SEARCHING = "Searching…";
const DRIVER = "burstlens/driver.log";
/** @type {Record<string, string>} */
const LABELS = { "model.log": "Model, live", [DRIVER]: "Driver" };

/** The logs of a run: followed at their end, or searched. */
export class LogView {
  #source;
  /** @type {LogFile | null} */
  #log = null;
  #waiting = 0;
  /** @type {Promise<unknown>} */
  #turn = Promise.resolve();
  #due = 0;
  #follows = true;
  #top = 0;
  #names = "";
  #text = "";
  /** @type {number[]} */
  #matches = [];
  #searched = 0;
  #at = -1;
  #search = 0;
  /** @type {RunStatus | null} */
  #status = null;
  /** @type {Mark[]} */
  #marks = [];
  #chosen = "";

  #picked = false;
  #choice = element("select", {
    "aria-label": "Log",
    onchange: () => {
      this.#picked = true;
      this.#open();
    },
  });
  #input = element("input", {
    type: "search",
    placeholder: "Search",
    "aria-label": "Search the log",
  });
  #count = element("span", { className: "where", role: "status" });
  #follow = button("Follow", "Show new lines as they come", () => this.#toEnd());
  #alarm = button("Alarm", "The line of the chosen alarm, else of the latest", () => {
    const one = this.#marks.find((mark) => JSON.stringify(mark) === this.#chosen);
    this.#toQuoted((one ?? this.#marks.at(-1))?.text ?? "", "the alarm");
  });
  #outcome = button("Outcome", "The line that says how the run ended", () => {
    const { line, message } = this.#status?.outcome ?? {};
    this.#toQuoted(line || message || "", "the outcome");
  });
  #place = element("input", {
    type: "range",
    min: "0",
    max: "1000",
    "aria-label": "Place in the log",
    onchange: () => this.#toShare(Number(this.#place.value) / 1000),
  });
  #note = element("p", { className: "where" });
  #rest = element("div", { className: "line" });
  #lines = element("div", {
    className: "lines",
    tabIndex: 0,
    role: "log",
    "aria-live": "off",
    "aria-label": "Lines",
  });

  /** @param {Source} source */
  constructor(source) {
    this.#source = source;
    const form = element(
      "form",
      { className: "searching" },
      this.#input,
      button("‹", "Previous match", () => this.#step(-1)),
      button("›", "Next match", () => this.#step(1), "submit"),
      this.#count,
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#step(1);
    });
    this.#input.addEventListener("input", () => this.#find());
    this.#lines.addEventListener("scroll", () => this.#scrolled());
    this.#lines.addEventListener("keydown", (event) => {
      if (event.key === "Home") this.#toShare(0);
      else if (event.key === "End") this.#toEnd();
      else if (!["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", " "].includes(event.key))
        return;
      event.stopPropagation(); // they scroll here
    });
    this.element = element(
      "div",
      { className: "log-view" },
      element(
        "div",
        { className: "tools" },
        this.#choice,
        this.#follow,
        this.#alarm,
        this.#outcome,
      ),
      form,
      this.#lines,
      this.#place,
      this.#note,
    );
  }

  /** @param {ViewState} state */
  show({ status, marks, chosen }) {
    const moved = chosen !== this.#chosen && chosen !== "";
    [this.#status, this.#marks, this.#chosen] = [status, marks, chosen];
    this.#alarm.hidden = !marks.length;
    this.#outcome.hidden = !status?.outcome;
    this.#offer(status?.logs ?? []);
    if (moved) this.#alarm.click();
    else if (performance.now() > this.#due) this.#do(() => this.#refresh(), false);
  }

  /**
   * The first log is shown until the reader picks one, searches or scrolls: the model's log comes
   * after the driver's and is offered before it.
   * @param {string[]} names
   */
  #offer(names) {
    if (names.join("\n") === this.#names) return;
    this.#names = names.join("\n");
    const before = this.#choice.value;
    this.#choice.replaceChildren(
      ...names.map((name) => element("option", { value: name }, LABELS[name] ?? name)),
    );
    const busy = this.#picked || !this.#follows || this.#input.value;
    if (busy && names.includes(before)) this.#choice.value = before;
    this.#choice.disabled = names.length < 2;
    if (this.#choice.value !== this.#log?.name) this.#open();
  }

  #open() {
    this.#log = this.#choice.value ? new LogFile(this.#source, this.#choice.value) : null;
    this.#follows = true;
    this.#find();
    this.#do(() => this.#refresh());
  }

  /**
   * Read one thing after the other. What a person asks for waits for its turn; what comes by itself
   * is left out while something is read.
   * @param {() => Promise<unknown>} what
   * @param {boolean} [asked]
   */
  async #do(what, asked = true) {
    if (this.#waiting && !asked) return;
    this.#waiting += 1;
    const turn = this.#turn.then(what);
    this.#turn = turn.catch(() => {});
    let trouble = "";
    try {
      await turn;
    } catch (error) {
      trouble = `It cannot be read: ${messageOf(error)}.`;
    }
    this.#waiting -= 1;
    this.#due = performance.now() + EVERY_MS;
    this.#tell(trouble);
  }

  /** @param {string} trouble */
  #tell(trouble) {
    const log = this.#log;
    let text = trouble;
    if (!log)
      text ||= this.#names ? "" : "The run has no log yet, or an older version has written it.";
    else if (this.#source.endsOnly && log.begin > 0) {
      text ||=
        "Only the last lines are here: to read all of a log takes burstlens serve or a notebook.";
    } else text ||= `${showBytes(log.size)} in all.`;
    if (!trouble && log?.name === "model.log") {
      text += isOver(this.#status)
        ? " As the watcher reported it; whole logs are in the list."
        : " As the watcher reports it; whole logs come when the model has ended.";
    }
    say(this.#note, text);
    this.#place.hidden = !log || (log.begin === 0 && log.atEnd) || this.#source.endsOnly;
    if (log?.size) this.#place.value = String((1000 * (log.begin + log.end)) / 2 / log.size);
    this.#follow.setAttribute("aria-pressed", String(this.#follows));
  }

  /** Read what is new. */
  async #refresh() {
    const log = this.#log;
    if (!log) return this.#draw();
    if (!log.lines.length) await log.last();
    else if (this.#follows || (log.atEnd && !log.full)) {
      const [before, replaced] = [log.end, await log.later()];
      if (replaced) this.#find();
      if (this.#follows && log.isFarBehind) await log.last();
      else if (log.end === before && this.#rest.textContent === log.rest) return this.#pin();
    } else return;
    if (log !== this.#log) return;
    this.#draw();
    this.#pin();
    if (this.#text && log.end > this.#searched) this.#extend();
  }

  /** Show the end while it is followed. */
  #pin() {
    if (!this.#follows) return;
    this.#lines.scrollTop = this.#lines.scrollHeight;
    this.#top = this.#lines.scrollTop;
  }

  /** Draw the window, keeping what is looked at in its place. */
  #draw() {
    const log = this.#log;
    const top = this.#lines.scrollTop;
    /** @type {Map<string | undefined, HTMLElement>} */
    const known = new Map();
    let anchor = null;
    for (const one of this.#lines.children) {
      if (!(one instanceof HTMLElement)) continue;
      known.set(one.dataset.at, one);
      if (!anchor && one.offsetTop + one.offsetHeight > top) anchor = one;
    }
    const offset = anchor ? anchor.offsetTop - top : 0;
    const rows = (log?.lines ?? []).map(({ at, text }) => {
      const key = `${log?.name} ${at}`;
      const row = known.get(key) ?? element("div", { className: "line" }, text || " ");
      row.dataset.at = key;
      say(row, text || " ");
      row.classList.toggle("match", this.#at === at);
      return row;
    });
    say(this.#rest, log?.rest ?? "");
    this.#lines.replaceChildren(...rows, this.#rest);
    if (anchor?.isConnected) this.#lines.scrollTop = anchor.offsetTop - offset;
  }

  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.#lines;
    const log = this.#log;
    if (!log || this.#waiting) return;
    const below = scrollHeight - clientHeight - scrollTop;
    if (this.#follows && below > NEAR && scrollTop < this.#top) {
      this.#follows = false;
      this.#tell("");
    }
    if (scrollTop < NEAR && log.begin > 0 && !this.#follows) {
      this.#do(() => log.earlier().then(() => this.#draw()), false);
    } else if (below < NEAR && !log.atEnd)
      this.#do(() => log.later().then(() => this.#draw()), false);
  }

  #toEnd() {
    this.#follows = true;
    this.#do(async () => {
      await this.#log?.last();
      this.#draw();
      this.#pin();
      if (this.#text) this.#extend();
    });
  }

  /** @param {number} share */
  #toShare(share) {
    const log = this.#log;
    if (!log) return;
    this.#follows = false;
    this.#do(async () => {
      await log.around(share * log.size);
      this.#draw();
      this.#lines.scrollTop = share === 0 ? 0 : this.#lines.scrollHeight * share;
    });
  }

  /**
   * Show the line that begins at a byte.
   * @param {LogFile} log
   * @param {number} at
   */
  async #toLine(log, at) {
    this.#follows = false;
    this.#at = at;
    if (!log.lines.some((line) => line.at === at)) await log.around(at);
    this.#draw();
    const row = this.#lines.querySelector(".match");
    row?.scrollIntoView({ block: "center" });
  }

  /**
   * @param {string} message
   * @param {string} what
   */
  async #toQuoted(message, what) {
    const names = [this.#choice.value, ...[...this.#choice.options].map(({ value }) => value)];
    say(this.#count, SEARCHING);
    await this.#do(async () => {
      for (const name of new Set(names)) {
        const log = name === this.#log?.name ? this.#log : new LogFile(this.#source, name);
        const at = await log.quoted(message);
        if (at === null) continue;
        const other = log !== this.#log;
        this.#log = log;
        this.#choice.value = name;
        if (other) this.#find();
        await this.#toLine(log, at);
        return this.#text ? this.#showCount(this.#searched < log.size) : say(this.#count, "");
      }
      say(this.#count, `No log has a line of ${what}.`);
    });
    if (this.#count.textContent === SEARCHING) say(this.#count, "");
  }

  /** Begin a search. */
  #find() {
    this.#text = this.#input.value;
    this.#matches = [];
    this.#searched = 0;
    this.#at = -1;
    say(this.#count, "");
    this.#extend();
  }

  /** Search what was not searched yet. */
  async #extend() {
    this.#search += 1;
    const [search, log] = [this.#search, this.#log];
    if (!this.#text || !log) return;
    try {
      for await (const { found, upTo } of log.search(this.#text, this.#searched)) {
        if (search !== this.#search) return;
        this.#matches.push(...found.filter((at) => at > (this.#matches.at(-1) ?? -1)));
        this.#searched = upTo;
        this.#showCount(upTo < log.size);
      }
      this.#showCount(false);
    } catch (error) {
      if (search === this.#search) say(this.#count, `Search failed: ${messageOf(error)}`);
    }
  }

  /** @param {boolean} more */
  #showCount(more) {
    const [all, here] = [this.#matches.length, this.#matches.indexOf(this.#at)];
    const total = `${all}${more ? "…" : ""}`;
    const place = here >= 0 ? `${here + 1} of ` : "";
    say(this.#count, all ? place + total : more ? "…" : "none");
  }

  /** @param {number} by */
  #step(by) {
    const log = this.#log;
    if (!log || !this.#matches.length) return;
    const seen = this.#at >= 0 ? this.#at : by > 0 ? log.begin - 1 : log.end;
    const next =
      by > 0
        ? (this.#matches.find((at) => at > seen) ?? this.#matches[0])
        : (this.#matches.findLast((at) => at < seen) ?? this.#matches[this.#matches.length - 1]);
    this.#do(() => this.#toLine(log, next)).then(() => this.#showCount(false));
  }
}

/**
 * @param {string} label
 * @param {string} title
 * @param {() => void} onclick
 * @param {"button" | "submit"} type
 */
function button(label, title, onclick, type = "button") {
  const how = type === "submit" ? {} : { onclick };
  const name = label.length > 1 ? label : title;
  return element("button", { type, className: "small", title, "aria-label": name, ...how }, label);
}
