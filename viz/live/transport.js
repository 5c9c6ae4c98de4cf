import { element, say, set } from "./element.js";
import { RATES } from "./player.js";
import { timeLabel } from "./valid_time.js";

/** Buttons that move through time, and the time that is shown. */
export class Transport {
  #when = element("output", { className: "time" });
  #count = element("span", { className: "count" });
  #play;
  #follow;

  constructor(player, changed) {
    const act = (does) => () => {
      does();
      changed();
    };
    const button = (sign, label, does) => element("button", {
      type: "button", className: "sign", "aria-label": label, title: label, onclick: act(does),
    }, sign);
    this.#play = button("▶", "Play", () => player.toggle());
    this.#follow = element("button", {
      type: "button", className: "follow", title: "Always show the newest (L)",
      onclick: act(() => player.follow()),
    }, "Newest");
    const rate = element("select", {
      "aria-label": "Speed of playing",
      onchange: () => (player.rate = Number(rate.value)),
    }, ...RATES.map((value) => element("option", { value, selected: value === player.rate }, `${value} /s`)));
    this.element = element("div", { className: "transport" },
      element("div", { className: "buttons" },
        button("⏮", "First (Home)", () => player.first()),
        button("◀", "One back (←)", () => player.step(-1)),
        this.#play,
        button("▶|", "One on (→)", () => player.step(1)),
        rate, this.#follow),
      element("div", { className: "shown" }, this.#when, this.#count));
  }

  show(player) {
    const { times, index } = player;
    say(this.#when, index < 0 ? "—" : timeLabel(times[index]));
    say(this.#count, index < 0 ? "no frame yet" : `${index + 1} of ${times.length}`);
    say(this.#play, player.playing ? "❚❚" : "▶");
    const label = player.playing ? "Pause (space)" : "Play (space)";
    set(this.#play, { "aria-label": label, title: label });
    set(this.#follow, { "aria-pressed": player.following });
  }
}
