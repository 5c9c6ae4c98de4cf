import { element, say, set } from "../elements/element.js";
import { icon } from "../elements/icon.js";
import { timeLabel } from "../elements/valid_time.js";
import { RATES } from "./player.js";

/** @import { Sign } from "../elements/icon.js" */
/** @import { Player } from "./player.js" */
/** @import { Changed } from "../types.d.ts" */

/** Buttons that move through time, and the time that is shown. */
export class Transport {
  #when = element("output", { className: "time" });
  #count = element("span", { className: "count" });
  #play;
  #follow;

  /**
   * @param {Player} player
   * @param {Changed} changed
   */
  constructor(player, changed) {
    /** @param {() => void} does */
    const act = (does) => () => {
      does();
      changed();
    };
    /**
     * @param {Sign} name
     * @param {string} label
     * @param {() => void} does
     */
    const button = (name, label, does) =>
      element(
        "button",
        {
          type: "button",
          className: "sign",
          "aria-label": label,
          title: label,
          onclick: act(does),
        },
        icon(name),
      );
    this.#play = button("play", "Play", () => player.toggle());
    this.#follow = element(
      "button",
      {
        type: "button",
        className: "follow",
        title: "Always show the newest (L)",
        onclick: act(() => player.follow()),
      },
      "Newest",
    );
    const rate = element(
      "select",
      {
        "aria-label": "Speed of playing",
        onchange: () => (player.rate = Number(rate.value)),
      },
      ...RATES.map((value) =>
        element("option", { value: String(value), selected: value === player.rate }, `${value} /s`),
      ),
    );
    this.element = element(
      "div",
      { className: "transport" },
      element(
        "div",
        { className: "buttons" },
        button("first", "First (Home)", () => player.first()),
        button("back", "One back (←)", () => player.step(-1)),
        this.#play,
        button("on", "One on (→)", () => player.step(1)),
        rate,
        this.#follow,
      ),
      element("div", { className: "shown" }, this.#when, this.#count),
    );
  }

  /** @param {Player} player */
  show(player) {
    const { times, index } = player;
    say(this.#when, index < 0 ? "—" : timeLabel(times[index]));
    say(this.#count, index < 0 ? "no frame" : `${index + 1} of ${times.length}`);
    const label = player.playing ? "Pause (space)" : "Play (space)";
    if (this.#play.title !== label) {
      set(this.#play, { "aria-label": label, title: label });
      this.#play.replaceChildren(icon(player.playing ? "pause" : "play"));
    }
    set(this.#follow, { "aria-pressed": player.following });
  }
}
