import { element, say } from "./element.js";
import { messageOf } from "./source.js";
import { isOver } from "./standing.js";

/** @import { Order, Source, Status } from "./types.d.ts" */

/** @type {[what: Order, label: string, text: string][]} */
const ORDERS = [
  ["stop", "Stop", "The frame in progress may end (60 s at most), then the model is ended."],
  ["stop-now", "Stop now", "The model is ended within 5 s; the frame in progress is lost."],
];

/** Stop with a confirmation; on a read-only page the command to type. */
export class Stop {
  #source;
  #run = "";
  /** @type {boolean | undefined} */
  #paused;
  #asking = false;
  #only = element("p", {}, "This page cannot stop the run. Type one of these commands:");
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
    this.#orders = ORDERS.map(([what, label, text]) => this.#order(what, label, text));
    const orders = element("div", { className: "orders" }, ...this.#orders.map(({ row }) => row));
    this.#dialog = element(
      "dialog",
      { "aria-labelledby": "stop-title" },
      element("h2", { id: "stop-title" }, "Stop this run?"),
      element(
        "p",
        {},
        "What is published stays, and the run can be resumed with ",
        element("code", {}, "burstlens resume"),
        ".",
      ),
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

  /** @param {Status | null} status */
  show(status) {
    this.#run = status?.run ?? "";
    this.#paused = status?.paused;
    const over = !status || isOver(status) || Boolean(status.model_ended);
    this.button.hidden = over;
    const able = this.#source.ask !== null;
    this.pause.hidden = over || !able || typeof this.#paused !== "boolean";
    const stopping = status?.state === "stopping";
    this.pause.disabled = stopping;
    say(this.pause, this.#paused ? "Resume pictures" : "Pause pictures");
    this.#only.hidden = able;
    for (const { what, row, button, command } of this.#orders) {
      row.hidden = stopping && what === "stop"; // stopping at once stays possible
      button.hidden = !able;
      command.hidden = able;
      say(command, `burstlens stop ${this.#run}${what === "stop" ? "" : " --now"}`);
    }
    if (over && this.#dialog.open) this.#dialog.close();
  }

  /**
   * @param {Order} what
   * @param {string} label
   * @param {string} text
   */
  #order(what, label, text) {
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
    return {
      what,
      button,
      command,
      row: element("div", {}, button, command, element("p", {}, text)),
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
