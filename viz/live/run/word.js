import { element, set } from "../elements/element.js";
import { icon } from "../elements/icon.js";
import { isOver } from "./standing.js";

/** @import { RunStatus } from "../status.d.ts" */
/** @import { Mark, Standing } from "../types.d.ts" */

/** @type {Record<string, string>} */
const SIGNS = { done: "✔", failed: "✖", stopped: "■", lost: "✖", silent: "✖", paused: "⏸" };
/** States in which the number of percent says how far the model is. */
const GOES_ON = new Set(["running", "draining", "stopping", "bringing home"]);

/**
 * The title of a page or tab: "▶ 42 % Chapala", "✖ failed Chapala".
 * @param {RunStatus} status
 * @param {string} state
 */
export function titleOf(status, state) {
  const { fraction } = status.progress ?? {};
  const far = GOES_ON.has(state) && typeof fraction === "number";
  const word = far ? `${Math.floor(100 * fraction + 1e-9)} %` : state;
  const sign = SIGNS[status.paused && far ? "paused" : state] ?? (isOver(status) ? "■" : "▶");
  const how = far && state !== "running" ? [state, word] : [word];
  return [sign, ...how, status.title || status.run].join(" ");
}

/**
 * A button after which the browser reports the end of a run and each guard that trips. It asks for
 * the permission when it is pressed, never by itself, and it is hidden for a run that is over.
 */
export class Word {
  #on = false;
  /** @type {boolean | null} */
  #over = null;
  #trips = 0;
  button = element(
    "button",
    {
      type: "button",
      className: "sign",
      hidden: true,
      "aria-label": "Notify when the run ends or a guard trips (N)",
      "aria-pressed": false,
      onclick: () => this.toggle(),
    },
    icon("bell"),
  );

  async toggle() {
    if (this.button.hidden) return;
    const may = !this.#on && (await allowed());
    this.#on = may === true;
    const refused = typeof may === "string" ? may : "";
    set(this.button, {
      "aria-pressed": this.#on,
      title: refused || (this.#on ? "No more notifications (N)" : LABEL),
    });
    if (refused) this.button.disabled = true;
  }

  /**
   * @param {RunStatus | null} status
   * @param {Standing} how
   * @param {Mark[]} marks
   */
  show(status, how, marks) {
    if (!status) return;
    const over = isOver(status);
    const trips = marks.filter(({ kind }) => kind !== "alarm");
    if (!over && this.button.hidden) {
      this.button.hidden = false;
      this.button.title = LABEL;
    }
    if (this.#on) {
      const name = status.title || status.run;
      if (over && !this.#over) this.#say(`${name}: ${how.state}`, how.sentence);
      else if (trips.length > this.#trips) {
        this.#say(`${name}: a guard tripped`, trips.at(-1)?.text ?? "");
      }
    }
    this.#over = over;
    this.#trips = trips.length;
  }

  /**
   * @param {string} title
   * @param {string} body
   */
  #say(title, body) {
    try {
      const shown = new Notification(title, { body: body.slice(0, 300), tag: title });
      shown.onclick = () => window.focus();
    } catch {
      return; // browsers of phones allow them to service workers alone
    }
  }
}

const LABEL = "Notify when the run ends or a guard trips (N)";

/**
 * Whether the browser allows notifications, or why not.
 * @returns {Promise<true | string>}
 */
async function allowed() {
  if (!("Notification" in window) || !isSecureContext) {
    return "This browser gives no notifications to this page (https or localhost is needed)";
  }
  const answer = await Notification.requestPermission().catch(() => "denied");
  return answer === "granted" || "Notifications are blocked for this page in the browser";
}
