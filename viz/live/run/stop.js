import { element, say } from "../elements/element.js";
import { messageOf } from "../sources/source.js";
import { attachedOf, mayStop, subjectOf } from "./attached.js";
import { isOver } from "./standing.js";

/** @import { RunStatus } from "../status.d.ts" */
/** @import { Order, Source } from "../types.d.ts" */

/** @type {[what: "stop" | "stop-now", label: string][]} */
const ORDERS = [
  ["stop", "Stop"],
  ["stop-now", "Stop now"],
];
/** What each does to a model that the run has launched. */
const LAUNCHED = {
  stop: "The frame in progress may end (60 s at most), then the model is ended.",
  "stop-now": "The model is ended within 5 s; the frame in progress is lost.",
};
/** What each does to a job or a process of others. */
const JOB = { stop: "The job is cancelled.", "stop-now": "" };
const PROCESS = {
  stop: "The process is asked to end, and killed after 10 s.",
  "stop-now": "The process is asked to end, and killed after 2 s.",
};
const RESUMED = "What is published stays, and the run can be resumed with ";
const LOOKED = "This ends the model itself. What is published stays; look there again with ";

/** Stop with a confirmation; on a read-only page the command to type. */
export class Stop {
  #source;
  #run = "";
  /** @type {boolean | null | undefined} */
  #paused;
  #asking = false;
  #only = element("p", {}, "This page cannot stop the run. Type one of these commands:");
  #title = element("h2", { id: "stop-title" });
  #kept = element("span", {}, RESUMED);
  #error = element("p", { className: "told", role: "alert" });
  #orders;
  #dialog;

  /** @param {Source} source */
  constructor(source) {
    this.#source = source;
    this.button = element(
      "button",
      {
        type: "button",
        className: "stop",
        hidden: true,
        onclick: () => this.#open(),
      },
      "Stop…",
    );
    this.pause = element("button", {
      type: "button",
      hidden: true,
      onclick: () => this.#togglePause(),
    });
    this.#orders = ORDERS.map(([what, label]) => this.#order(what, label));
    const orders = element("div", { className: "orders" }, ...this.#orders.map(({ row }) => row));
    this.#dialog = element(
      "dialog",
      { "aria-labelledby": "stop-title" },
      this.#title,
      element("p", {}, this.#kept, element("code", {}, "burstlens resume"), "."),
      this.#only,
      orders,
      this.#error,
      element(
        "form",
        { method: "dialog" },
        element("button", { autofocus: true }, "Keep it running"),
      ),
    );
    this.element = this.#dialog;
  }

  /** @param {RunStatus | null} status */
  show(status) {
    this.#run = status?.run ?? "";
    this.#paused = status?.paused;
    const over = !status || isOver(status) || Boolean(status.model_ended);
    const able = this.#source.ask !== null;
    const part = attachedOf(status);
    const alone = part !== null && (!able || status?.driver_alive === false);
    this.button.hidden = over || alone || !mayStop(status);
    say(this.#title, part ? `Stop ${subjectOf(part)}?` : "Stop this run?");
    say(this.#kept, part ? LOOKED : RESUMED);
    const texts = part === null ? LAUNCHED : part.job ? JOB : PROCESS;
    this.pause.hidden = over || !able || typeof this.#paused !== "boolean";
    const stopping = status?.state === "stopping";
    this.pause.disabled = stopping;
    say(this.pause, this.#paused ? "Resume pictures" : "Pause pictures");
    this.#only.hidden = able;
    for (const { what, row, note, button, command } of this.#orders) {
      say(note, texts[what]);
      // Stopping at once stays possible.
      row.hidden = texts[what] === "" || (stopping && what === "stop");
      button.hidden = !able;
      command.hidden = able;
      say(command, `burstlens stop ${this.#run}${what === "stop" ? "" : " --now"}`);
    }
    if (over && this.#dialog.open) this.#dialog.close();
  }

  /**
   * @param {"stop" | "stop-now"} what
   * @param {string} label
   */
  #order(what, label) {
    const button = element(
      "button",
      {
        type: "button",
        className: what,
        onclick: () => this.#give(what),
      },
      label,
    );
    const command = element("code", {});
    const note = element("p", {});
    return {
      what,
      button,
      command,
      note,
      row: element("div", {}, button, command, note),
    };
  }

  #open() {
    say(this.#error, "");
    this.#dialog.showModal();
  }

  /** @param {Order} what */
  async #ask(what) {
    const { ask } = this.#source;
    if (ask === null) throw new Error("this page cannot stop or pause the run.");
    await ask(what);
  }

  /** @param {Order} what */
  async #give(what) {
    for (const { button } of this.#orders) button.disabled = true;
    try {
      await this.#ask(what);
      this.#dialog.close();
    } catch (error) {
      say(this.#error, `The request failed: ${messageOf(error)}`);
    }
    for (const { button } of this.#orders) button.disabled = false;
  }

  async #togglePause() {
    if (this.#asking) return; // instead of disabling the button, which would lose the focus
    this.#asking = true;
    try {
      await this.#ask(this.#paused ? "resume-watching" : "pause");
    } catch (error) {
      this.#open();
      say(this.#error, `The request failed: ${messageOf(error)}`);
    }
    this.#asking = false;
  }
}
