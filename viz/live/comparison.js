import { Album } from "./album.js";
import { element, say } from "./element.js";
import { Pictures } from "./pictures.js";
import { isOver } from "./standing.js";

const BLINK_MS = 700;
const LOOK_MS = 1000;
const LOOK_OVER_MS = 15_000;
const MODES = [
  ["side", "Side by side"],
  ["blink", "Blink"],
  ["split", "Split"],
  ["difference", "Difference"],
  ["difference-8", "Difference × 8"],
];

/** Another run, read beside the one that is shown. */
class Comparison {
  album = new Album();
  status = null;
  why = "";
  /** In blink mode: whether the other run's picture is the one that is seen. */
  lit = true;
  #closed = false;

  constructor(run, source, changed) {
    this.run = run;
    this.mode = "split";
    this.source = source;
    this.pictures = new Pictures(source, changed);
    this.#follow(changed);
  }

  async #follow(changed) {
    while (!this.#closed) {
      try {
        const found = await this.source.poll();
        this.status = found.status;
        this.why = found.why;
        this.album.take(found);
      } catch (error) { // what it reads may be anybody's: the next look may succeed
        this.status = null;
        this.why = error.message;
      }
      changed();
      await new Promise((done) => setTimeout(done, isOver(this.status) ? LOOK_OVER_MS : LOOK_MS));
    }
  }

  close() {
    this.#closed = true;
    this.pictures.close();
    this.source.close?.();
  }
}

/** The controls that choose another run and how it is compared. */
export class Comparer {
  current = null;
  #source;
  #changed;
  #blinking = null;
  #run = "";
  #choices = element("datalist", { id: "runs" });
  #name = element("input", {
    type: "text", placeholder: "another run", "aria-label": "Compare with run", autocomplete: "off",
    spellcheck: false, size: 14,
  });
  #mode = element("select", { "aria-label": "How to compare", hidden: true },
    ...MODES.map(([value, label]) => element("option", { value }, label)));
  #end = element("button", { type: "button", className: "small", hidden: true }, "End");
  #why = element("span", { className: "why" });

  constructor(source, changed) {
    this.#source = source;
    this.#changed = changed;
    this.#name.setAttribute("list", "runs");
    this.#name.addEventListener("focus", () => this.#list());
    this.#name.addEventListener("change", () => this.#choose(this.#name.value.trim()));
    this.#mode.addEventListener("change", () => this.#setMode(this.#mode.value));
    this.#end.addEventListener("click", () => this.#choose(""));
    this.element = element("div", { className: "comparer" },
      element("label", {}, "Compare with ", this.#name), this.#choices, this.#mode, this.#end, this.#why);
  }

  async #list() {
    const runs = await this.#source.others().catch(() => null);
    const others = (runs ?? []).filter(({ run }) => run !== this.#run);
    this.#choices.replaceChildren(...others.map(({ run, state, title }) =>
      element("option", { value: String(run) }, `${title}, ${state}`)));
  }

  #choose(run) {
    this.current?.close();
    this.current = run ? new Comparison(run, this.#source.open({ run }), this.#changed) : null;
    this.#name.value = run;
    this.#mode.hidden = this.#end.hidden = !run;
    if (run) this.#setMode("split");
    else this.#setMode(null);
  }

  #setMode(mode) {
    clearInterval(this.#blinking);
    if (this.current) {
      this.current.mode = mode;
      this.current.lit = true;
      this.#mode.value = mode;
    }
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (mode === "blink" && !still) this.#blinking = setInterval(() => this.blink(), BLINK_MS);
    this.#changed();
  }

  /** Show the other one of the two pictures. */
  blink() {
    if (this.current?.mode !== "blink") return;
    this.current.lit = !this.current.lit;
    this.#changed();
  }

  /** `run` is the one that is shown. */
  show(run) {
    this.#run = run;
    const { current } = this;
    const lost = current && !current.status && current.why;
    say(this.#why, lost ? `No run ${current.run} can be read beside this one.` : "");
  }

  close() {
    clearInterval(this.#blinking);
    this.current?.close();
  }
}
