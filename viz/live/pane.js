import { isHole, seriesId } from "./album.js";
import { element, say, set } from "./element.js";
import { showNumber, showUnits } from "./quantity.js";
import { Sheet } from "./sheet.js";
import { timeLabel } from "./valid_time.js";

const STEP = 0.02;

/** One product's picture, and over or beside it that of another run at the same valid time. */
export class Pane {
  seriesId = null;
  /** The valid time that it keeps while the others go on, or null. */
  held = null;
  #lens;
  #split = 0.5;
  #named = "";

  /** `changed()` asks for a new drawing, `removed(pane)` takes it away. */
  constructor(lens, changed, removed) {
    this.#lens = lens;
    this.#changed = changed;
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
        this.#range,
        element("span", { className: "gap" }),
        this.#hold,
        this.#open,
        this.#remove,
      ),
      this.#glass,
    );
  }

  #changed;
  #time = null;
  #seen = undefined;
  #choice = element("select", { "aria-label": "Product" });
  #when = element("span", { className: "when" });
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
      title: "Take this view away",
      "aria-label": "Take this view away",
    },
    "×",
  );
  #first = new Sheet("sheet");
  #second = new Sheet("sheet second");
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

  /** Offer these series to choose from. */
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

  /** Draw; returns the index lines whose pictures are wanted: of this run, of the other one. */
  show({ album, player, pictures, source, run, comparison }) {
    this.#time = this.held ?? player.time;
    const series = album.series.get(this.seriesId);
    const line = this.#time === null ? undefined : series?.at(this.#time);
    const bitmap = line ? pictures.get(line) : null;
    // Until it is loaded, another one stands in, and all that is said is of that one.
    const seen =
      bitmap || !line ? line : (pictures.latest(this.seriesId) ?? this.#standIn(line, pictures));
    this.#seen = seen;
    this.#first.show(seen ? pictures.get(seen) : null, this.#lens);
    const other = comparison
      ? comparison.album.series.get(this.seriesId)?.exactly(seen?.time)
      : null;
    this.#compare(comparison, other, run);
    this.#tell(line, seen, pictures, comparison, other, player);
    say(this.#range, rangeOf(seen?.facts ?? {}) + coloursOf(seen, series?.at(series.times.at(-1))));
    this.#link(seen, source);
    return [line, other];
  }

  #standIn(line, pictures) {
    const before = this.#seen;
    const fits = before && seriesId(before) === this.seriesId && pictures.get(before);
    return fits ? before : line;
  }

  #compare(comparison, other, run) {
    const mode = shownMode(comparison, other);
    set(this.#glass, { "data-mode": mode });
    this.#second.show(other ? comparison.pictures.get(other) : null, this.#lens);
    const style = this.#second.element.style;
    style.visibility = mode === "blink" && !comparison.lit ? "hidden" : "visible";
    style.clipPath = mode === "split" ? `inset(0 0 0 ${100 * this.#split}%)` : "none";
    this.#handle.style.left = `${100 * this.#split}%`;
    set(this.#handle, { "aria-valuenow": Math.round(100 * this.#split) });
    const both = mode === "difference" || mode === "difference-8";
    say(
      this.#mine,
      mode === "off" || mode === "without" || (mode === "blink" && comparison.lit)
        ? ""
        : both
          ? `| ${run} − ${comparison.run} |`
          : run,
    );
    say(
      this.#theirs,
      mode === "off" || mode === "without" || both || (mode === "blink" && !comparison.lit)
        ? ""
        : comparison.run,
    );
  }

  #tell(line, seen, pictures, comparison, other, player) {
    const held = this.held === null ? "" : "held at ";
    const apart = seen && (held || seen.time !== player.time);
    say(this.#when, apart ? `${held}${timeLabel(seen.time)}` : "");
    set(this.#hold, { "aria-pressed": this.held !== null });
    let word = "";
    if (!line)
      word =
        this.#time === null || !this.seriesId
          ? "No picture yet"
          : "No picture at this time or before";
    else if (pictures.isMissing(line)) word = "The picture is not there; it is tried again";
    else if (comparison && !other) word = `No picture of ${comparison.run} at this time`;
    say(this.#word, word);
    const drawn = seen && pictures.get(seen);
    set(this.#first.element, { "aria-label": drawn ? describe(seen) : word || "Loading" });
  }

  #link(line, source) {
    const url = line ? source.link(line.name) : null;
    this.#open.hidden = url === null;
    if (url !== null) set(this.#open, { href: url });
  }

  #attachHandle() {
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
      const by = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      move(this.#split + by);
    });
  }
}

/** One picture alone must not pass for a difference, nor for two halves. */
function shownMode(comparison, other) {
  if (!comparison) return "off";
  if (other) return comparison.mode;
  return (
    { split: "off", difference: "without", "difference-8": "without" }[comparison.mode] ??
    comparison.mode
  );
}

function rangeOf({ min, max, nan, units }) {
  if (typeof min !== "number" || typeof max !== "number") return "";
  const gaps = nan ? `, ${nan} without value` : "";
  return `${showNumber(min)} to ${showNumber(max)}${units ? ` ${showUnits(units)}` : ""}${gaps}`;
}

/** Where the colours of a picture mean something else than those of the newest one of its series. */
function coloursOf(line, newest) {
  const limits = [line, newest].map((one) => one?.facts?.limits);
  const known = limits.every(
    (one) => Array.isArray(one) && one.length === 2 && one.every(Number.isFinite),
  );
  const [mine, last] = known
    ? limits.map(([low, high]) => `${showNumber(low)} to ${showNumber(high)}`)
    : [];
  return mine === last ? "" : `; colours ${mine} (newest picture: ${last})`;
}

function describe(line) {
  const hole = isHole(line) ? `, placeholder: ${line.facts.reason ?? "damaged"}` : "";
  return `${line.product}, ${timeLabel(line.time)}${hole}`;
}
