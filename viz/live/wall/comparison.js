import { element, say } from "../elements/element.js";
import { isOver } from "../run/standing.js";
import { namesIn, namesOut } from "../sharing/address.js";
import { messageOf } from "../sources/source.js";
import { Album } from "../time/album.js";
import { FieldStore } from "../values/field_store.js";
import { SeriesStore } from "../values/series.js";
import { Pictures } from "./pictures.js";

/** @import { RunStatus } from "../status.d.ts" */
/** @import { Changed, Source } from "../types.d.ts" */

const BLINK_MS = 700;
const LOOK_MS = 1000;
const LOOK_OVER_MS = 15_000;
const MODES = [
  ["side", "Side by side"],
  ["blink", "Blink"],
  ["split", "Split"],
  ["difference", "Difference"],
];

/** Another run, read beside the one that is shown. */
export class Comparison {
  album = new Album();
  /** @type {RunStatus | null} */
  status = null;
  why = "";
  /** In blink mode: whether the other run's picture is the one that is seen. */
  lit = true;
  #closed = false;

  /**
   * @param {string} run
   * @param {Source} source
   * @param {Changed} changed
   * @param {number} [bytes] of pictures that are held, and of values
   */
  constructor(run, source, changed, bytes) {
    this.run = run;
    this.mode = "split";
    this.source = source;
    this.pictures = new Pictures(source, changed, bytes);
    this.fields = new FieldStore(source, changed, run, bytes);
    this.values = new SeriesStore(source, this.fields, changed);
    this.#follow(changed);
  }

  /** @param {Changed} changed */
  async #follow(changed) {
    while (!this.#closed) {
      try {
        const found = await this.source.poll();
        this.status = found.status;
        this.why = found.why;
        this.album.take(found);
      } catch (error) {
        // foreign files may be invalid: the next poll may succeed
        this.status = null;
        this.why = messageOf(error);
      }
      changed();
      await new Promise((done) => setTimeout(done, isOver(this.status) ? LOOK_OVER_MS : LOOK_MS));
    }
  }

  /** Whether the run exists, as far as it was read. */
  get found() {
    return this.status !== null || this.album.series.size > 0;
  }

  close() {
    this.#closed = true;
    this.values.close();
    this.pictures.close();
    this.fields.close();
    this.source.close();
  }
}

/** The controls that choose another run and how it is compared. */
export class Comparer {
  /** @type {Comparison | null} */
  current = null;
  #source;
  #changed;
  /** @type {number | undefined} */
  #blinking;
  #run = "";
  #wanted = "";
  #linked = "split";
  #trouble = "";
  #choices = element("datalist", { id: "runs" });
  #name = element("input", {
    type: "text",
    placeholder: "another run",
    "aria-label": "Compare with run",
    autocomplete: "off",
    spellcheck: false,
    size: 14,
  });
  #mode = element(
    "select",
    { "aria-label": "How to compare", hidden: true },
    ...MODES.map(([value, label]) => element("option", { value }, label)),
  );
  #aside = element(
    "button",
    {
      type: "button",
      className: "small",
      hidden: true,
      title: "Show that run in a view of its own",
    },
    "Beside",
  );
  #end = element("button", { type: "button", className: "small", hidden: true }, "End");
  #why = element("span", { className: "why" });

  /**
   * `changed()` asks for a new drawing, `entered()` is called when a name was entered by key,
   * `aside(run)` shows a run in views of its own.
   * @param {Source} source
   * @param {Changed} changed
   * @param {() => void} entered
   * @param {(run: string) => void} aside
   */
  constructor(source, changed, entered, aside) {
    this.#source = source;
    this.#changed = changed;
    this.#name.setAttribute("list", "runs");
    this.#name.addEventListener("focus", () => this.#list());
    this.#name.addEventListener("change", () => this.#find(this.#name.value.trim()));
    this.#name.addEventListener("keydown", ({ key }) => {
      if (key === "Enter") setTimeout(entered); // after its change event
    });
    this.#mode.addEventListener("change", () => this.#setMode(this.#mode.value));
    this.#end.addEventListener("click", () => this.#choose(""));
    this.#aside.addEventListener("click", () => {
      aside(this.#wanted);
      this.#choose("");
    });
    this.element = element(
      "div",
      { className: "comparer" },
      element("label", {}, "Compare with ", this.#name),
      this.#choices,
      this.#mode,
      this.#aside,
      this.#end,
      this.#why,
    );
  }

  /** The other runs, or null where they cannot be listed. */
  async #others() {
    const runs = await this.#source.others().catch(() => null);
    return runs?.filter(({ run }) => run !== this.#run) ?? null;
  }

  async #list() {
    const others = await this.#others();
    this.#choices.replaceChildren(
      ...(others ?? []).map(({ run, state, title }) =>
        element("option", { value: String(run) }, `${title}, ${state}`),
      ),
    );
  }

  /**
   * Choose a run by its name or, where the runs are known, by the unique start of it.
   * @param {string} name
   * @param {string} [mode]
   */
  async #find(name, mode = "split") {
    this.#wanted = name;
    const others = name ? await this.#others() : null;
    if (this.#wanted !== name) return; // another one was entered meanwhile
    const ids = others?.map(({ run }) => String(run)) ?? [name];
    if (name === this.#run) return this.#choose(name, mode); // compared with itself: no difference
    const fit = ids.includes(name) ? [name] : ids.filter((id) => id.startsWith(name));
    if (fit.length === 1) return this.#choose(fit[0], mode);
    this.#choose("");
    this.#name.value = name;
    this.#trouble = fit.length
      ? `${fit.length} runs begin with ${name}.`
      : `There is no run ${name} in this folder.`;
    this.#changed();
  }

  /**
   * @param {string} run
   * @param {string} [mode]
   */
  #choose(run, mode = "split") {
    this.#wanted = run;
    this.#trouble = "";
    this.current?.close();
    this.current = run ? new Comparison(run, this.#source.open({ run }), this.#changed) : null;
    this.#name.value = run;
    this.#mode.hidden = this.#end.hidden = !run;
    this.#aside.hidden = !run || run === this.#run;
    this.#setMode(run && mode);
  }

  /**
   * The comparison of a link: the run and how it is compared.
   * @param {string} text
   */
  read(text) {
    if (text === this.write()) return;
    const [name, asked] = text.split(",");
    const mode = asked === "difference-8" ? "difference" : asked; // of older links
    const [run = ""] = namesIn(name);
    const known = MODES.some(([value]) => value === mode);
    this.#linked = run && known ? mode : "split";
    if (run) this.#find(run, this.#linked);
    else this.#choose("");
  }

  /** The text of read(). */
  write() {
    return this.#wanted && namesOut([this.#wanted, this.current?.mode ?? this.#linked]);
  }

  /** @param {string} mode */
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

  /** The other run once it has been found, else null. */
  get shown() {
    return this.current?.found ? this.current : null;
  }

  /**
   * `run` is the one that is shown.
   * @param {string} run
   */
  show(run) {
    this.#run = run;
    const { current } = this;
    const lost = current && !current.status && current.why;
    say(this.#why, lost ? `Run ${current.run} cannot be read.` : this.#trouble);
  }

  close() {
    clearInterval(this.#blinking);
    this.current?.close();
  }
}
