import { element, say } from "./element.js";
import { isOver } from "./standing.js";

const ORDERS = [
  ["stop", "Stop", "The frame in progress may end (60 s at most), then the model is ended."],
  ["stop-now", "Stop now", "The model is ended within 5 s; the frame in progress is lost."],
];

/** Stop, with a question before it; where nothing can be asked, the command to type. */
export class Stop {
  #source;
  #run = "";
  #told = element("p", { className: "told", role: "alert" });
  #orders;
  #commands;
  #dialog;

  constructor(source) {
    this.#source = source;
    this.button = element("button", {
      type: "button", className: "stop", hidden: true, onclick: () => this.#open(),
    }, "Stop…");
    this.pause = element("button", { type: "button", hidden: true, onclick: () => this.#togglePause() });
    this.#orders = element("div", { className: "orders" }, ...ORDERS.map(([what, label, text]) =>
      element("div", {},
        element("button", { type: "button", className: what, onclick: () => this.#order(what) }, label),
        element("p", {}, text))));
    this.#commands = element("pre", {});
    this.#dialog = element("dialog", { "aria-labelledby": "stop-title" },
      element("h2", { id: "stop-title" }, "Stop this run?"),
      element("p", {}, "What is published stays; a stopped run can be taken up again with ",
        element("code", {}, "burstlens resume"), "."),
      this.#orders, this.#commands, this.#told,
      element("form", { method: "dialog" }, element("button", { autofocus: true }, "Let it go on")));
    this.element = this.#dialog;
  }

  show(status) {
    this.#run = status?.run ?? "";
    this.#paused = status?.paused;
    const over = !status || isOver(status);
    this.button.hidden = over;
    const able = this.#source.ask !== null;
    this.pause.hidden = over || !able || typeof this.#paused !== "boolean";
    say(this.pause, this.#paused ? "Go on watching" : "Pause pictures");
    this.#orders.hidden = !able;
    this.#commands.hidden = able;
    say(this.#commands, ORDERS.map(([what]) =>
      `burstlens stop ${this.#run}${what === "stop" ? "" : " --now"}`).join("\n"));
    if (over && this.#dialog.open) this.#dialog.close();
  }

  #paused;

  #open() {
    say(this.#told, this.#source.ask === null ? "This page can only look. Type one of these:" : "");
    this.#dialog.showModal();
  }

  async #order(what) {
    for (const button of this.#orders.querySelectorAll("button")) button.disabled = true;
    try {
      await this.#source.ask(what);
      this.#dialog.close();
    } catch (error) {
      say(this.#told, `It could not be asked: ${error.message}`);
    }
    for (const button of this.#orders.querySelectorAll("button")) button.disabled = false;
  }

  async #togglePause() {
    this.pause.disabled = true;
    try {
      await this.#source.ask(this.#paused ? "resume-watching" : "pause");
    } catch (error) {
      this.#open();
      say(this.#told, `It could not be asked: ${error.message}`);
    }
    this.pause.disabled = false;
  }
}
