import { element, say } from "../elements/element.js";
import { copyButton } from "../sharing/copy_text.js";
import { messageOf } from "../sources/source.js";

/** @import { RunStatus } from "../status.d.ts" */
/** @import { Source } from "../types.d.ts" */

/** @type {[key: string, label: string][]} */
const FACTS = [
  ["run", "Run"],
  ["recipe", "Recipe"],
  ["source", "From"],
  ["site", "Site"],
  ["host", "Created on"],
  ["created", "Created"],
  ["burstlens", "Burstlens"],
  ["python", "Python"],
  ["format", "Format"],
  ["buffer_folder", "Buffer folder"],
];

/** What was run: the run's facts, the recipe with every parameter filled in, the recipe as given. */
export class AboutRun {
  #source;
  #state = "";
  #note = element("p", { className: "where" });
  #facts = element("dl", { className: "facts" });
  #run = text("As run, with every parameter filled in");
  #given = text("As given");

  /** @param {Source} source */
  constructor(source) {
    this.#source = source;
    this.element = element(
      "div",
      { className: "about-run", tabIndex: 0 },
      this.#note,
      this.#facts,
      this.#run.element,
      this.#given.element,
    );
  }

  /**
   * Read once, and again after a failure or when another driver has begun.
   * @param {RunStatus | null} status
   */
  async show(status) {
    const state = `${status?.run} ${status?.started} ${status?.products && Object.keys(status.products)}`;
    if (state === this.#state) return;
    this.#state = state;
    try {
      const texts = await this.#source.about();
      const facts = object(texts["run.json"]);
      this.#showFacts(facts);
      this.#run.show(facts.table ? toml(facts.table) : "");
      this.#given.show(texts["recipe.toml"] ?? "");
      say(this.#note, "");
    } catch (error) {
      say(this.#note, `The recipe cannot be read: ${messageOf(error)}.`);
      setTimeout(() => {
        this.#state = "";
      }, 5000);
    }
  }

  /** @param {Record<string, any>} facts */
  #showFacts(facts) {
    const known = FACTS.filter(([key]) => facts[key] !== undefined && facts[key] !== null);
    this.#facts.replaceChildren(
      ...known.map(([key, label]) => {
        const value = facts[key];
        const shown = key === "created" ? new Date(1000 * value).toLocaleString("sv-SE") : value;
        return element("div", {}, element("dt", {}, label), element("dd", {}, String(shown)));
      }),
    );
  }
}

/** @param {string} title */
function text(title) {
  const pre = element("pre", {});
  const whole = element(
    "section",
    { hidden: true },
    element(
      "h2",
      {},
      title,
      copyButton(() => pre),
    ),
    pre,
  );
  return {
    element: whole,
    /** @param {string} value */
    show(value) {
      say(pre, value);
      whole.hidden = !value;
    },
  };
}

/**
 * @param {string | undefined} json
 * @returns {Record<string, any>}
 */
function object(json) {
  const value = JSON.parse(json || "{}");
  return value && typeof value === "object" ? value : {};
}

/**
 * A table as TOML.
 * @param {Record<string, any>} table
 * @param {string} [path]
 * @returns {string}
 */
export function toml(table, path = "") {
  const own = [];
  const below = [];
  for (const [name, value] of Object.entries(table)) {
    const key = path + key_(name);
    const inner = `${key}.`;
    if (value === null) continue;
    if (Array.isArray(value) && value.length && value.every(isTable)) {
      for (const one of value) below.push(`\n[[${key}]]\n${toml(one, inner)}`);
    } else if (isTable(value) && (path === "" || Object.values(value).some(isTable))) {
      below.push(`\n[${key}]\n${toml(value, inner)}`);
    } else own.push(`${key_(name)} = ${inline(value)}\n`);
  }
  return own.join("") + below.join("");
}

/**
 * @param {any} value
 * @returns {string}
 */
function inline(value) {
  if (Array.isArray(value)) {
    const parts = value.map(inline);
    const one = `[${parts.join(", ")}]`;
    return one.length < 90 ? one : `[\n  ${parts.join(",\n  ")},\n]`;
  }
  if (isTable(value)) {
    const parts = Object.entries(value).map(([name, one]) => `${key_(name)} = ${inline(one)}`);
    return parts.length ? `{ ${parts.join(", ")} }` : "{}";
  }
  if (typeof value === "string" && value.includes("\n") && !/"""|\\/.test(value)) {
    return `"""\n${value}"""`;
  }
  return JSON.stringify(value);
}

/** @param {string} name */
function key_(name) {
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
}

/**
 * @param {any} value
 * @returns {value is Record<string, any>}
 */
function isTable(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
