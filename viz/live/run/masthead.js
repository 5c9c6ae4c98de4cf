import { showRough } from "../elements/digits.js";
import { element, say, set } from "../elements/element.js";
import { counted, showDuration } from "../elements/quantity.js";
import { timeLabel } from "../elements/valid_time.js";
import { attachedOf } from "./attached.js";
import { isOver } from "./standing.js";

/** @import { ProgressPart, RunStatus } from "../status.d.ts" */
/** @import { Mark, Standing } from "../types.d.ts" */

/** @type {Record<string, string>} */
const WORDS = {
  lost: "driver gone",
  silent: "driver silent",
  unreachable: "not reachable",
  unreadable: "files away",
  new: "waiting",
  reading: "…",
};

/** States in which it is not known whether the model still runs. */
const STILL = new Set(["lost", "silent", "unreachable", "unreadable"]);

/** Which run it is, how far it is, and the buttons that concern the whole page. */
export class Masthead {
  #state = element("span", { className: "state" });
  #alarms = element("button", {
    type: "button",
    className: "alarm-count",
    hidden: true,
    title: "Show the alarms",
  });
  #title = element("h1", {});
  #run = element("span", { className: "run" });
  #values = ["Model time", "Progress", "To go", "Speed"].map((label) => ({
    label,
    value: element("dd", {}),
  }));
  #list = element("dl", {});
  #bar = element("div", { className: "bar" });
  #progress = element(
    "div",
    {
      className: "progress",
      role: "progressbar",
      "aria-label": "Progress of the model",
      "aria-valuemin": 0,
      "aria-valuemax": 100,
    },
    this.#bar,
  );
  #sentence = element("span", {});
  #command = element("code", {});
  #line = element("pre", { className: "log-line" });
  #said = element("p", { className: "unseen", role: "status" });
  /** @type {Mark | null} */
  #mark = null;
  #last = element("button", { type: "button", className: "last-mark", title: "Show where it was" });
  #notice = element(
    "div",
    { className: "notice" },
    element("p", {}, element("span", {}, this.#sentence, " ", this.#command), this.#last),
    this.#line,
  );

  /**
   * `buttons` are elements for the right end; `choose(mark)` is called for the latest alarm, `list`
   * for all of them.
   * @param {HTMLElement[]} buttons
   * @param {(mark: Mark) => void} choose
   * @param {() => void} list
   */
  constructor(buttons, choose, list) {
    this.#alarms.addEventListener("click", list);
    this.#last.addEventListener("click", () => {
      if (this.#mark) choose(this.#mark);
    });
    this.#list.append(
      ...this.#values.map(({ label, value }) =>
        element("div", {}, element("dt", {}, label), value),
      ),
    );
    this.element = element(
      "header",
      { className: "masthead" },
      element(
        "div",
        { className: "first-row" },
        element("div", { className: "name" }, this.#state, this.#alarms, this.#title, this.#run),
        this.#list,
        element("div", { className: "buttons" }, ...buttons),
      ),
      this.#progress,
      this.#notice,
      this.#said,
    );
  }

  /**
   * `how` is what standing() returns; `why` says what cannot be reached or shown; `marks` are
   * those on the time axis.
   * @param {RunStatus | null} status
   * @param {Standing} how
   * @param {string} why
   * @param {Mark[]} marks
   */
  show(status, how, why, marks) {
    this.#mark = isOver(status) ? null : (marks.at(-1) ?? null);
    say(this.#last, this.#mark?.text ?? "");
    set(this.#last, { "data-kind": this.#mark?.kind ?? "" });
    this.#last.hidden = this.#mark === null;
    this.#alarms.hidden = !marks.length;
    say(this.#alarms, counted(marks.length, "alarm"));
    set(this.#alarms, { "data-kind": marks.some(({ kind }) => kind !== "alarm") ? "bad" : "" });
    set(this.element, { "data-tone": why ? "bad" : how.tone });
    say(this.#state, WORDS[how.state] ?? how.state);
    say(this.#title, status?.title || status?.run || "Burstlens");
    say(this.#run, status?.title ? status.run : "");
    this.#showProgress(status, isOver(status) || STILL.has(how.state));
    say(this.#sentence, why || how.sentence);
    say(this.#command, why ? "" : how.command);
    const line = status?.outcome?.line ?? "";
    say(this.#line, line);
    this.#line.hidden = !line;
    // What is observed of a model changes with each look: a screen reader would never fall silent.
    const changing = how.tone === "busy" || (attachedOf(status) !== null && !isOver(status));
    const more = changing ? "" : `${how.sentence} ${how.command}`;
    say(this.#said, why || `${how.state}. ${more}`);
  }

  /**
   * @param {RunStatus | null} status
   * @param {boolean} over
   */
  #showProgress(status, over) {
    /** @type {ProgressPart} */
    const progress = status?.progress ?? {};
    const { fraction } = progress;
    const known = typeof fraction === "number";
    const percent = known ? 100 * fraction : 0;
    const values = [
      progress.time ? timeLabel(progress.time) : "",
      known ? `${Math.floor(percent + 1e-9)} %` : "",
      progress.eta_s && !over ? showDuration(progress.eta_s) : "",
      progress.speed
        ? `${showRough(progress.speed)} × real time`
        : progress.rate_mpps
          ? `${showRough(progress.rate_mpps)} Mpoint/s`
          : "",
    ];
    // The log of a model that others started may say none of these.
    this.#list.hidden = attachedOf(status) !== null && values.every((value) => value === "");
    for (const [i, { value }] of this.#values.entries()) say(value, values[i] || "–");
    this.#bar.style.transform = `scaleX(${percent / 100})`;
    set(this.#progress, {
      "aria-valuenow": Math.floor(percent),
      "aria-valuetext": values[1] || "unknown",
    });
  }
}
