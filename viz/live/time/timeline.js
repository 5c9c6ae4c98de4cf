import { modelTicks } from "../elements/axis.js";
import { drawn, element, set } from "../elements/element.js";
import { axisKind, positions, timeLabel, timeSeconds } from "../elements/valid_time.js";
import { isHole, isStaleIn, lastNotAfter } from "./album.js";

/** @import { Album, Series } from "./album.js" */
/** @import { Player } from "./player.js" */
/** @import { Segment } from "./segments.js" */
/** @import { Mark } from "../types.d.ts" */

const HEIGHT = 54;
const RAIL = 22;
const EDGE = 10;
const REACH = 8;
/** The bands of attempts: where they begin, how high they are, and their letters' width. */
const [BAND_TOP, BAND, LETTER] = [RAIL + 12, 15, 8];

/**
 * The scrubber: valid time from left to right, a stroke for each frame, a short one for each that
 * is stale, a gap with a stroke below for each hole, and marks above for alarms. One path for all
 * frames, however many. Below them a band for each attempt of the model, where several resume
 * from each other's checkpoints.
 */
export class Timeline {
  #seek;
  #choose;
  #drawnFor = "";
  #first = 0;
  #span = 1;
  #calendar = "";
  /** @type {number[]} */
  #seconds = [];
  /** @type {Mark[]} */
  #marks = [];
  #width = 0;
  #bands = drawn("g", { class: "bands" });
  #ticks = drawn("g", { class: "ticks" });
  #future = drawn("path", { class: "rail future" });
  #rail = drawn("path", { class: "rail" });
  #frames = drawn("path", { class: "frames" });
  #stale = drawn("path", { class: "stale" });
  #holes = drawn("path", { class: "holes" });
  #signs = drawn("g", { class: "signs" });
  #head = drawn("path", { class: "playhead", d: `M0 ${RAIL - 11}v22` });

  /**
   * `seek(index)` is called with an index of the times, `choose(mark)` with a mark.
   * @param {(index: number) => void} seek
   * @param {(mark: Mark) => void} choose
   */
  constructor(seek, choose) {
    this.#seek = seek;
    this.#choose = choose;
    const axis = [this.#bands, this.#ticks, this.#future, this.#rail];
    const strokes = [this.#stale, this.#frames, this.#holes, this.#signs, this.#head];
    this.#svg = drawn("svg", { height: HEIGHT, "aria-hidden": "true" }, ...axis, ...strokes);
    this.element = element(
      "div",
      {
        className: "timeline",
        tabIndex: 0,
        role: "slider",
        "aria-label": "Valid time",
        "aria-valuemin": 1,
        onpointerdown: (event) => this.#down(event),
        onpointermove: (event) => this.#move(event),
        onpointerup: () => (this.#held = false),
        onpointercancel: () => (this.#held = false),
      },
      this.#svg,
    );
    new ResizeObserver(() => this.#resize()).observe(this.element);
  }

  #svg;
  /** How much lower the ticks are for the bands. */
  #lower = 0;
  /** The bands in words, for those who do not see them. */
  attempts = element("ul", { className: "unseen", "aria-label": "Attempts of the model" });
  #held = false;
  /** @type {Parameters<Timeline["show"]> | null} */
  #last = null;

  #resize() {
    this.#width = this.element.clientWidth;
    set(this.#svg, { width: this.#width });
    this.#drawnFor = "";
    if (this.#last) this.show(...this.#last);
  }

  /**
   * Draw the player's times; `series` show which are holes, `end` is where the model will end.
   * @param {Player} player
   * @param {Series[]} series
   * @param {Mark[]} marks
   * @param {number | null} end
   * @param {Album} album
   */
  show(player, series, marks, end, album) {
    this.#last = [player, series, marks, end, album];
    const { times } = player;
    const { segments } = album;
    const name = [
      album.version,
      segments.several.map(({ text }) => text),
      times.length,
      series.map((one) => one.id),
      marks.length,
      end,
      marks.at(-1)?.time,
      this.#width,
    ].join("|");
    if (name !== this.#drawnFor) {
      this.#drawnFor = name;
      this.#lower = segments.several.length ? BAND + 4 : 0;
      set(this.#svg, { height: HEIGHT + this.#lower });
      this.#draw(times, series, marks, end);
      this.#drawBands(times, segments.several);
    }
    const { index } = player;
    set(this.#head, {
      transform: `translate(${index < 0 ? -99 : this.#x(this.#seconds[index]).toFixed(1)} 0)`,
    });
    set(this.element, {
      "aria-valuemax": Math.max(1, times.length),
      "aria-valuenow": Math.max(1, index + 1),
      "aria-valuetext":
        index < 0
          ? "no frame"
          : `${timeLabel(times[index])}, frame ${index + 1} of ${times.length}` +
            (isStaleIn(series, times[index]) ? ", stale" : ""),
    });
  }

  /**
   * @param {string[]} times
   * @param {Series[]} series
   * @param {Mark[]} marks
   * @param {number | null} end
   */
  #draw(times, series, marks, end) {
    this.#calendar = series[0]?.calendar ?? "";
    const seconds = positions(times, this.#calendar);
    this.#seconds = seconds;
    this.#marks = marks;
    this.#first = seconds[0] ?? 0;
    const last = seconds.at(-1) ?? 0;
    this.#span = Math.max(last, end ?? last) - this.#first || 1;
    const x0 = EDGE;
    const x1 = this.#x(last);
    set(this.#future, { d: `M${x1} ${RAIL}H${Math.max(x1, this.#width - EDGE)}` });
    set(this.#rail, { d: times.length ? `M${x0} ${RAIL}H${x1}` : "" });
    const { frames, stale, holes } = this.#columns(times, seconds, series);
    set(this.#frames, { d: strokes(frames, RAIL - 6, 12) });
    set(this.#stale, { d: strokes(stale, RAIL - 3, 6) });
    set(this.#holes, { d: strokes(holes, RAIL + 2, 6) });
    this.#drawTicks(times, last);
    this.#signs.replaceChildren(...marks.map((mark) => this.#sign(mark)));
  }

  /**
   * Pixel columns that hold a frame, those that hold a stale one, and those that hold a hole.
   * @param {string[]} times
   * @param {number[]} seconds
   * @param {Series[]} series
   */
  #columns(times, seconds, series) {
    /** @type {Set<number>} */
    const frames = new Set();
    /** @type {Set<number>} */
    const stale = new Set();
    /** @type {Set<number>} */
    const holes = new Set();
    for (const [index, time] of times.entries()) {
      const lines = series.map((one) => one.exactly(time));
      const hole = lines.some((line) => line !== undefined && isHole(line));
      const set = isStaleIn(series, time) ? stale : hole ? holes : frames;
      set.add(Math.round(this.#x(seconds[index])));
    }
    return { frames, stale, holes };
  }

  /**
   * A band for each segment, from its begin to that of the next.
   * @param {string[]} times
   * @param {Segment[]} segments
   */
  #drawBands(times, segments) {
    const end = this.#width - EDGE / 2;
    const begins = segments.map(({ begin }) => (begin ? this.#xOf(begin, times) : EDGE / 2));
    this.#bands.replaceChildren(
      ...segments.map(({ attempt, text }, at) => {
        const x = begins[at];
        const width = Math.max(0, (begins[at + 1] ?? end) - x);
        const names = [`attempt ${attempt}`, `${attempt}`, ""];
        const name = names.find((one) => one.length * LETTER + 4 <= width) ?? "";
        const middle = { x: x + width / 2, y: BAND_TOP + BAND - 4, "text-anchor": "middle" };
        return drawn(
          "g",
          {},
          drawn("title", {}, text),
          drawn("rect", { x, y: BAND_TOP, width, height: BAND }),
          at ? drawn("path", { d: `M${x} ${RAIL - 11}V${BAND_TOP + BAND}` }) : "",
          drawn("text", middle, name),
        );
      }),
    );
    const lists = segments.map(({ text }) => element("li", {}, text));
    this.attempts.replaceChildren(...lists);
    this.attempts.hidden = !lists.length;
  }

  /**
   * Where a valid time lies that may have no frame.
   * @param {string} time
   * @param {string[]} times
   */
  #xOf(time, times) {
    const seconds = timeSeconds(time, this.#calendar);
    const known = Number.isFinite(seconds) ? seconds : this.#seconds[lastNotAfter(times, time)];
    return Number(this.#x(known ?? this.#first).toFixed(1));
  }

  /**
   * @param {string[]} times
   * @param {number} last
   */
  #drawTicks(times, last) {
    if (times.length < 2) return this.#ticks.replaceChildren();
    const end = Math.max(last, this.#first + this.#span);
    const count = Math.max(2, this.#width / 110);
    const shown = modelTicks(this.#first, end, count, axisKind(times[0]), this.#calendar);
    this.#ticks.replaceChildren(
      ...shown.flatMap(([value, label]) => {
        const x = Number(this.#x(value).toFixed(1));
        const anchor = x < 30 ? "start" : x > this.#width - 30 ? "end" : "middle";
        const textX = { start: 1, middle: x, end: this.#width - 1 }[anchor];
        return [
          drawn("path", { d: `M${x} ${RAIL + 10 + this.#lower}v4` }),
          drawn("text", { x: textX, y: HEIGHT - 4 + this.#lower, "text-anchor": anchor }, label),
        ];
      }),
    );
  }

  /** @param {Mark} mark */
  #sign(mark) {
    if (!Number.isFinite(mark.seconds)) return "";
    const x = this.#x(mark.seconds).toFixed(1);
    const shape = mark.kind === "alarm" ? "M-4 9L0 2L4 9z" : "M0 1L4.5 5.5L0 10L-4.5 5.5z";
    return drawn(
      "path",
      { d: shape, class: mark.kind, transform: `translate(${x} 0)` },
      drawn("title", {}, mark.text),
    );
  }

  /** @param {number} seconds */
  #x(seconds) {
    const room = Math.max(1, this.#width - 2 * EDGE);
    const x = EDGE + ((seconds - this.#first) / this.#span) * room;
    return Math.min(this.#width - EDGE / 2, Math.max(EDGE / 2, x));
  }

  /** @param {PointerEvent} event */
  #down(event) {
    const { x, y } = this.#place(event);
    const near = this.#marks.filter((mark) => Math.abs(this.#x(mark.seconds) - x) <= REACH);
    if (y < RAIL - 8 && near.length) return this.#choose(near[near.length - 1]);
    this.#held = true;
    this.element.setPointerCapture(event.pointerId);
    this.#seekTo(x);
  }

  /** @param {PointerEvent} event */
  #move(event) {
    if (this.#held) this.#seekTo(this.#place(event).x);
  }

  /** @param {PointerEvent} event */
  #place(event) {
    const box = this.element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  /** @param {number} x */
  #seekTo(x) {
    const share = (x - EDGE) / Math.max(1, this.#width - 2 * EDGE);
    const wanted = this.#first + share * this.#span;
    const before = Math.max(0, lastNotAfter(this.#seconds, wanted));
    const after = Math.min(this.#seconds.length - 1, before + 1);
    const nearer = this.#seconds[after] - wanted < wanted - this.#seconds[before] ? after : before;
    this.#seek(nearer);
  }
}

/**
 * @param {Set<number>} columns
 * @param {number} top
 * @param {number} height
 */
function strokes(columns, top, height) {
  return [...columns].map((x) => `M${x} ${top}v${height}`).join("");
}
