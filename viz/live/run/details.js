import { element } from "../elements/element.js";
import { AboutRun } from "./about_run.js";
import { LogView } from "./log_view.js";
import { Timing } from "./timing.js";

/** @import { Source, ViewState, Changed } from "../types.d.ts" */

/** The log, the recipe and where the time went, beside the pictures. */
export class Details {
  #changed;
  #log;
  #about;
  #timing = new Timing();
  #chosen = "log";
  #tabs;

  /**
   * @param {Source} source
   * @param {Changed} changed
   */
  constructor(source, changed) {
    this.#changed = changed;
    this.#log = new LogView(source);
    this.#about = new AboutRun(source);
    this.#tabs = new Map([
      ["log", { label: "Log", body: this.#log.element }],
      ["recipe", { label: "Recipe", body: this.#about.element }],
      ["times", { label: "Times", body: this.#timing.element }],
    ]);
    this.button = element(
      "button",
      { type: "button", title: "Log, recipe, times (G)", onclick: () => this.toggle() },
      "Log…",
    );
    const tabs = [...this.#tabs].map(([name, { label }]) =>
      element(
        "button",
        { type: "button", role: "tab", id: `tab-${name}`, onclick: () => this.#choose(name) },
        label,
      ),
    );
    const close = element(
      "button",
      { type: "button", className: "small", "aria-label": "Close", onclick: () => this.toggle() },
      "✕",
    );
    this.element = element(
      "section",
      { className: "details", hidden: true, "aria-label": "Log, recipe, times" },
      element("header", { role: "tablist" }, ...tabs, element("span", { className: "gap" }), close),
      ...[...this.#tabs.values()].map(({ body }) => body),
    );
    this.#buttons = tabs;
    this.#choose("log");
  }

  #buttons;

  toggle() {
    this.element.hidden = !this.element.hidden;
    this.button.setAttribute("aria-pressed", String(!this.element.hidden));
    if (!this.element.hidden) this.#buttons.find((one) => one.ariaSelected === "true")?.focus();
    else this.button.focus();
    this.#changed();
  }

  /** @param {string} name */
  #choose(name) {
    this.#chosen = name;
    for (const [i, [key, { body }]] of [...this.#tabs].entries()) {
      body.hidden = key !== name;
      this.#buttons[i].setAttribute("aria-selected", String(key === name));
    }
    this.#changed();
  }

  /** @param {ViewState} state */
  show(state) {
    if (this.element.hidden) return;
    if (this.#chosen === "log") this.#log.show(state);
    else if (this.#chosen === "recipe") this.#about.show(state.status);
    else this.#timing.show(state);
  }
}
