import { coloursOf, describe, differenceLabel, rangeOf } from "../drawing/caption.js";
import { Palette } from "../drawing/palette.js";
import { Sheet } from "../drawing/sheet.js";
import { StillPlane } from "../drawing/still_plane.js";
import { laidOver, Surroundings } from "../drawing/surroundings.js";
import { element, say, set } from "../elements/element.js";
import { timeLabel } from "../elements/valid_time.js";
import { unitsOfDifference } from "../elements/value_label.js";
import { Probe } from "../places/probe.js";
import { seriesId } from "../time/album.js";
import { Caveats } from "./caveats.js";
import { PaintedPair } from "./painted_pair.js";
import { scaleLabel, shownMode } from "./two_runs.js";

/** @import { Series } from "../time/album.js" */
/** @import { Around } from "../drawing/draw_surroundings.js" */
/** @import { Lens } from "./lens.js" */
/** @import { Painted } from "../drawing/looks.js" */
/** @import { Pictures } from "./pictures.js" */
/** @import { Changed, IndexLine, Source, Tools, ViewState } from "../types.d.ts" */

/** How far a key moves the line between two runs, as a part of the width. */
const STEPS = new Map([
  ["ArrowLeft", -0.02],
  ["ArrowRight", 0.02],
]);
/** Modes in which the two pictures lie over each other. */
const OVER = new Set(["split", "blink"]);
const NO_DIFFERENCE = "No difference: both pictures need values in the same units";

/** One product's picture, with that of another run at the same valid time over or beside it. */
export class Pane {
  /** @type {string | null} */
  seriesId = null;
  /**
   * The valid time that it holds while the others move on, or null.
   * @type {string | null}
   */
  held = null;
  #lens;
  #split = 0.5;
  #named = "";

  /**
   * `changed()` asks for a new drawing, `removed(pane)` removes it.
   * @param {Lens} lens
   * @param {Tools} tools
   * @param {Changed} changed
   * @param {(pane: Pane) => void} removed
   */
  constructor(lens, tools, changed, removed) {
    this.#lens = lens;
    this.#changed = changed;
    this.#probe = new Probe(this.#glass, tools);
    this.#palette = new Palette(tools.looks, changed);
    this.#first.element.classList.add("first");
    for (const sheet of [this.#first, this.#second]) {
      lens.attach(sheet.element, () => sheet.frame(lens));
    }
    this.#choice.addEventListener("change", () => {
      this.seriesId = this.#choice.value;
      changed();
    });
    this.#hold.addEventListener("click", () => {
      this.held = this.held === null ? this.#time : null;
      changed();
    });
    this.#remove.addEventListener("click", () => removed(this));
    this.#attachHandle();
    this.element = element(
      "section",
      { className: "pane" },
      element(
        "header",
        {},
        this.#choice,
        this.#when,
        this.#caveats.short,
        this.#range,
        element("span", { className: "gap" }),
        this.#palette.button,
        this.#hold,
        this.#open,
        this.#remove,
        this.#caveats.why,
      ),
      this.#glass,
      this.#probe.text,
      this.#palette.element,
    );
  }

  #changed;
  #probe;
  #palette;
  #pair = new PaintedPair();
  #surroundings = new Surroundings();
  #theirSurroundings = new Surroundings();
  #still = new StillPlane();
  #theirStill = new StillPlane();
  /** @type {Painted | null} */
  #painted = null;
  /** @type {string | null} */
  #time = null;
  #isPlaying = false;
  /** @type {IndexLine | undefined} */
  #seen;
  #choice = element("select", { "aria-label": "Product" });
  #when = element("span", { className: "when" });
  #caveats = new Caveats();
  #range = element("span", { className: "range" });
  #hold = element(
    "button",
    { type: "button", className: "small", title: "Keep this time" },
    "Hold",
  );
  #open = element(
    "a",
    { className: "small", target: "_blank", rel: "noopener", title: "The picture alone" },
    "Open",
  );
  #remove = element(
    "button",
    {
      type: "button",
      className: "small",
      title: "Remove this view",
      "aria-label": "Remove this view",
    },
    "×",
  );
  #first = new Sheet("sheet", () => this.#changed());
  #second = new Sheet("sheet second", () => this.#changed());
  #handle = element("div", {
    className: "handle",
    tabIndex: 0,
    role: "slider",
    "aria-label": "Where the two runs meet",
    "aria-valuemin": 0,
    "aria-valuemax": 100,
  });
  #mine = element("span", { className: "tag mine" });
  #theirs = element("span", { className: "tag theirs" });
  #word = element("p", { className: "word" });
  #glass = element(
    "div",
    { className: "glass" },
    this.#first.element,
    this.#second.element,
    this.#handle,
    this.#mine,
    this.#theirs,
    this.#word,
  );

  /** The line of the picture that is seen, its pixels, and its look where it is painted here. */
  get shown() {
    return { line: this.#seen, bitmap: this.#first.bitmap, painted: this.#painted };
  }

  /**
   * The pixels of its picture that are seen (left, top, right, bottom); null while it is whole.
   * @param {number[]} size
   */
  part(size) {
    return this.#lens.scale > 1 ? this.#first.window(this.#lens, size) : null;
  }

  /**
   * Offer these series to choose from.
   * @param {Series[]} series
   * @param {boolean} alone
   */
  offer(series, alone) {
    const names = series.map((one) => one.id).join("|");
    if (names !== this.#named) {
      this.#named = names;
      this.#choice.replaceChildren(
        ...series.map(({ id, product, stream }) => {
          const single = series.filter((other) => other.product === product).length === 1;
          return element("option", { value: id }, single ? product : `${product} · ${stream}`);
        }),
      );
    }
    if (this.seriesId === null && series.length) this.seriesId = series[0].id;
    if (this.#choice.value !== this.seriesId) this.#choice.value = this.seriesId ?? "";
    this.#choice.disabled = series.length < 2;
    this.#remove.hidden = alone;
    this.#hold.hidden = this.#choice.hidden = !series.length;
  }

  /**
   * Draw; returns the index lines whose pictures are needed, of this run and of the other one.
   * @param {ViewState} state
   */
  show(state) {
    const { album, player, pictures, source, comparison } = state;
    this.#time = this.held ?? player.time;
    this.#isPlaying = player.playing && this.held === null;
    const id = this.seriesId ?? "";
    const series = album.series.get(id);
    const line = this.#time === null ? undefined : series?.at(this.#time);
    const bitmap = line ? pictures.get(line) : null;
    // Until it is loaded another picture is shown, and all texts describe that one.
    const coming = bitmap || !line ? line : (pictures.latest(id) ?? this.#standIn(line, pictures));
    const pair = this.#pair.paint(state, id, coming);
    const { seen, other, lookId, look, scale, painted, theirs } = pair;
    [this.#seen, this.#painted] = [seen, painted];
    const mode = shownMode(comparison, other, painted);
    const fields = seen ? state.fields.get(seen) : null;
    const theirFields = (other && comparison?.fields.get(other)) ?? null;
    let around = this.#surroundings.of(seen, fields, painted);
    let beside = this.#theirSurroundings.of(other, theirFields, theirs);
    if (OVER.has(mode)) [around, beside] = laidOver(around, beside);
    // First: beside another picture this one has half of the room.
    const from = this.#compare(mode, state, other, theirs, beside);
    const shown = painted?.canvas ?? (seen ? pictures.get(seen) : null);
    const planned = around ? seen : undefined;
    const plane = this.#still.of(this.#first, shown, state.fields, planned, painted);
    this.#first.show(shown, this.#lens, around, plane, this.#isPlaying);
    this.#label(line, seen, other, state, mode === "without" ? this.#pair.lacks : null);
    this.#name(seen, other, state, mode);
    const newest = series?.at(series.times[series.times.length - 1]);
    const { difference } = painted ?? {};
    const lacking = seen && this.#pair.lacks ? "; no difference here" : "";
    say(
      this.#range,
      difference
        ? differenceLabel(difference, unitsOfDifference(seen?.facts?.units)) +
            scaleLabel(scale, painted, theirs, "")
        : rangeOf(seen?.facts ?? {}) +
            scaleLabel(scale, painted, theirs, coloursOf(seen, newest)) +
            lacking,
    );
    this.#caveats.show(state, seen, other, Boolean(difference), this.#first, this.#second);
    this.#link(seen, source);
    const limits = painted?.limits ?? fields?.header.colours.limits;
    this.#palette.show(
      lookId,
      fields,
      difference,
      limits,
      this.#first,
      this.#lens,
      comparison !== null,
    );
    this.#palette.button.hidden = !seen?.values && this.#palette.element.hidden;
    this.#probe.point({
      mine: {
        difference,
        extremes: look.extremes,
        fields,
        line: seen,
        sheet: this.#first,
        missing: seen !== undefined && (!seen.values || state.fields.isMissing(seen)),
      },
      theirs: {
        fields: theirFields,
        run: comparison?.run ?? "",
        sheet: this.#second,
        missing: !other?.values || (comparison?.fields.isMissing(other) ?? true),
        from,
      },
      lens: this.#lens,
    });
    const theirsNeeded = [...pair.theirNeeds, ...this.#theirStill.needs];
    if (other && this.#theirSurroundings.needs) theirsNeeded.push(other);
    const isAsked = this.#palette.asks || this.#surroundings.needs;
    const needs = seen ? [...(isAsked ? [seen] : []), ...pair.needs, ...this.#still.needs] : [];
    return { line, other: pair.counterpart, seen, needs, theirs: theirsNeeded };
  }

  /** Take it away, and end what is still under way. */
  close() {
    for (const sheet of [this.#first, this.#second]) sheet.close();
    this.element.remove();
  }

  /** Mark the cursor and the places, as soon as all panes are drawn. */
  mark() {
    this.#probe.show();
  }

  /**
   * @param {IndexLine} line
   * @param {Pictures} pictures
   */
  #standIn(line, pictures) {
    const before = this.#seen;
    const fits = before && seriesId(before) === this.seriesId && pictures.get(before);
    return fits ? before : line;
  }

  /**
   * Returns from which part of the width on the other run's picture is the one that is seen.
   * @param {string} mode
   * @param {ViewState} state
   * @param {IndexLine | undefined} other
   * @param {Painted | null} painted the other run's picture
   * @param {Around | null} around
   */
  #compare(mode, { comparison, run }, other, painted, around) {
    set(this.#glass, { "data-mode": mode });
    const drawn = other && comparison ? comparison.pictures.get(other) : null;
    const shown = painted?.canvas ?? drawn;
    const [fields, line] = [comparison?.fields, around ? other : undefined];
    const plane = fields ? this.#theirStill.of(this.#second, shown, fields, line, painted) : null;
    this.#second.show(shown, this.#lens, around, plane, this.#isPlaying);
    const style = this.#second.element.style;
    const lit = comparison?.lit ?? false;
    style.visibility = mode === "blink" && !lit ? "hidden" : "visible";
    style.clipPath = mode === "split" ? `inset(0 0 0 ${100 * this.#split}%)` : "none";
    this.#handle.style.left = `${100 * this.#split}%`;
    set(this.#handle, { "aria-valuenow": Math.round(100 * this.#split) });
    const single = mode === "off" || mode === "without";
    const both = mode === "difference";
    const theirs = comparison?.run ?? "";
    const mine = both ? `${run} − ${theirs}` : run;
    say(this.#mine, single || (mode === "blink" && lit) ? "" : mine);
    say(this.#theirs, single || both || (mode === "blink" && !lit) ? "" : theirs);
    if (mode === "blink") return lit ? 0 : 1;
    return mode === "side" ? 0.5 : mode === "split" ? this.#split : 1;
  }

  /**
   * @param {IndexLine | undefined} line
   * @param {IndexLine | undefined} seen
   * @param {IndexLine | undefined} other
   * @param {ViewState} state
   * @param {boolean | null} lacks whether a difference cannot be had; null where none is shown
   */
  #label(line, seen, other, { pictures, comparison, player }, lacks) {
    const held = this.held === null ? "" : "held at ";
    const apart = seen && (held || seen.time !== player.time);
    say(this.#when, apart ? `${held}${timeLabel(seen.time)}` : "");
    set(this.#hold, { "aria-pressed": this.held !== null });
    let word = "";
    if (!line) {
      const none = this.#time === null || !this.seriesId;
      word = none ? "No picture" : "No picture at this time or before";
    } else if (pictures.isMissing(line)) word = "The picture cannot be loaded; trying again";
    else if (comparison && !other) word = `No picture of ${comparison.run} at this time`;
    else if (lacks || (lacks !== null && !seen?.values)) word = NO_DIFFERENCE;
    else if (lacks !== null) word = "Loading the values";
    say(this.#word, word);
  }

  /**
   * Name the pictures for those who do not see them.
   * @param {IndexLine | undefined} seen
   * @param {IndexLine | undefined} other
   * @param {ViewState} state
   * @param {string} mode
   */
  #name(seen, other, { comparison, run }, mode) {
    const whose = mode === "side" || OVER.has(mode) ? run : "";
    const minus = this.#painted?.difference ? this.#painted.minus : "";
    const mine = seen && this.#first.bitmap ? describe(seen, whose, minus) : "";
    const instead = this.#word.textContent || "Loading";
    set(this.#first.element, { "aria-label": mine || instead });
    const theirs = other && comparison && whose && this.#second.bitmap;
    set(this.#second.element, {
      "aria-hidden": !theirs,
      "aria-label": theirs ? describe(other, comparison.run) : "",
    });
  }

  /**
   * @param {IndexLine | undefined} line
   * @param {Source} source
   */
  #link(line, source) {
    const url = line ? source.link(line.name) : null;
    this.#open.hidden = url === null;
    if (url !== null) set(this.#open, { href: url });
  }

  #attachHandle() {
    /** @param {number} share */
    const move = (share) => {
      this.#split = Math.min(1, Math.max(0, share));
      this.#changed();
    };
    this.#handle.addEventListener("pointerdown", (event) => {
      this.#handle.setPointerCapture(event.pointerId);
    });
    this.#handle.addEventListener("pointermove", (event) => {
      if (!this.#handle.hasPointerCapture(event.pointerId)) return;
      const box = this.#glass.getBoundingClientRect();
      move((event.clientX - box.left) / box.width);
    });
    this.#handle.addEventListener("keydown", (event) => {
      const by = STEPS.get(event.key);
      if (by === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      move(this.#split + by);
    });
  }
}
