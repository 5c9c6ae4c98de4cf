import { mount } from "./mount.js";
import { isLine, messageOf } from "./sources/source.js";

/** @import { RunStatus } from "./status.d.ts" */
/** @import { Gap, IndexLine, LogPart, OtherRun, Poll, Source } from "./types.d.ts" */
/** @import { Answers, Heard, Kept, WidgetModel } from "./types.d.ts" */

const ANSWER_MS = 10_000;
const FIRST_ANSWER_MS = 3_000;
const ASK_AGAIN_MS = 2_000;
const ASK_AGAIN_MOST_MS = 60_000;
const HELD_URLS = 32; // the view keeps the decoded pictures
const NOTEBOOK_HEIGHT = "720px";
/**
 * Colour schemes by the name of the notebook's theme.
 * @type {Map<string | undefined, string>}
 */
const THEMES = new Map([
  ["true", "light"],
  ["false", "dark"],
  ["vscode-light", "light"],
  ["vscode-dark", "dark"],
]);

/**
 * @template {keyof Answers} Ask
 * @typedef {[answer: Answers[Ask], buffers: Parameters<Heard>[1]]} Given
 */

/** Called by anywidget for each view of a dashboard. */
export default {
  /** @param {{ model: WidgetModel, el: HTMLElement }} view */
  render({ model, el }) {
    el.style.setProperty("--burstlens-height", NOTEBOOK_HEIGHT);
    // JupyterLab's own keys would act first: arrows choose another cell.
    el.dataset.lmSuppressShortcuts = "true";
    const view = mount(el, new WidgetSource(model));
    const forget = followTheme(view.element);
    return () => {
      forget();
      view.destroy();
    };
  },
};

/**
 * Give an element the notebook's theme, which may differ from the system's. Returns a function
 * that ends it.
 * @param {HTMLElement} element
 */
function followTheme(element) {
  const apply = () => {
    const { jpThemeLight, vscodeThemeKind } = document.body.dataset; // JupyterLab and kin, VS Code
    element.style.colorScheme = THEMES.get(jpThemeLight ?? vscodeThemeKind) ?? "";
  };
  apply();
  const watching = new MutationObserver(apply);
  const names = ["data-jp-theme-light", "data-vscode-theme-kind"];
  watching.observe(document.body, { attributes: true, attributeFilter: names });
  return () => watching.disconnect();
}

/** Requests to the kernel by anywidget's messages, each with its answer; views may share a model. */
class Kernel {
  #model;
  #name = Math.random().toString(36).slice(2);
  #count = 0;
  /**
   * By the question's id; each answer is of the shape that its question asks for.
   * @type {Map<string, { resolve: (given: any) => void, reject: (error: Error) => void }>}
   */
  #waiting = new Map();
  /** @type {Heard} */
  #hear = (answer, buffers) => this.#heard(answer, buffers);

  /** @param {WidgetModel} model */
  constructor(model) {
    this.#model = model;
    model.on("msg:custom", this.#hear);
  }

  /**
   * Promise of [answer, buffers], or of null; rejects with the kernel's error.
   * @template {keyof Answers} Ask
   * @param {{ ask: Ask } & Record<string, unknown>} content
   * @returns {Promise<Given<Ask> | null>}
   */
  request(content) {
    this.#count += 1;
    const id = `${this.#name}-${this.#count}`;
    const answer = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    try {
      this.#model.send({ ...content, id });
    } catch {
      // the kernel was restarted: no answer will come
      this.#waiting.get(id)?.resolve(null);
      this.#waiting.delete(id);
    }
    return answer;
  }

  /**
   * @param {Parameters<Heard>[0]} answer
   * @param {Parameters<Heard>[1]} buffers
   */
  #heard(answer, buffers) {
    const asked = this.#waiting.get(answer.id);
    if (!asked) return; // another view's
    this.#waiting.delete(answer.id);
    if (answer.error === undefined) asked.resolve([answer, buffers]);
    else asked.reject(new Error(answer.error));
  }

  close() {
    this.#model.off("msg:custom", this.#hear);
    this.#waiting.clear();
  }
}

/**
 * A run that a notebook's kernel reads; `model` is anywidget's, `run` null or a neighbour's id.
 *
 * While a cell runs, a kernel without subshells answers late: requests are then repeated at growing
 * intervals, so that they do not pile up. They are repeated because JupyterLab sends the first one
 * before it has a subshell: with "Run All" that one waits behind every cell that follows.
 * Without a kernel the view shows what was kept with the notebook.
 * @implements {Source}
 */
export class WidgetSource {
  #model;
  #run;
  #kernel;
  #offset = 0;
  /** @type {number | null} */
  #stamp = null;
  /** @type {RunStatus | null} */
  #status = null;
  #mayStop = false;
  /** @type {{ since: number, answer: Promise<Given<"poll"> | null> } | null} */
  #question = null;
  #patience = ASK_AGAIN_MS;
  /** @type {Date | null} */
  #heardAt = null;
  /** @type {Kept | null} */
  #kept = null;
  /** @type {Map<string, Promise<string>>} */
  #urls = new Map();

  /**
   * @param {WidgetModel} model
   * @param {string | null} [run]
   */
  constructor(model, run = null) {
    this.#model = model;
    this.#run = run;
    this.#kernel = new Kernel(model);
  }

  /** @returns {Promise<Poll>} */
  async poll() {
    const now = performance.now();
    let question = this.#question;
    const late = question !== null && now - question.since >= this.#patience;
    if (late) this.#patience = Math.min(2 * this.#patience, ASK_AGAIN_MOST_MS);
    if (question === null || late) {
      const [run, offset, stamp] = [this.#run, this.#offset, this.#stamp];
      const answer = this.#kernel.request({ ask: "poll", run, offset, stamp });
      question = this.#question = { since: now, answer };
    }
    const limit = this.#heardAt === null ? FIRST_ANSWER_MS : ANSWER_MS;
    try {
      const given = await within(question.answer, limit);
      if (given === null) return this.#silence();
      this.#question = null;
      this.#patience = ASK_AGAIN_MS;
      const found = this.#take(given[0]);
      return given[0].more ? joined(found, await this.poll()) : found;
    } catch (error) {
      this.#question = null;
      this.#heardAt = new Date();
      return this.#nothing(`The kernel answers: ${messageOf(error)}.`, "files");
    }
  }

  /**
   * @param {Answers["poll"]} answer
   * @returns {Poll}
   */
  #take(answer) {
    this.#heardAt = new Date();
    const fresh = answer.fresh || this.#kept !== null;
    this.#kept = null;
    this.#offset = answer.offset;
    this.#stamp = answer.stamp;
    this.#status = answer.status ?? this.#status;
    this.#mayStop = answer.may_stop;
    const { lines } = answer;
    return { status: this.#status, heard: true, lines, fresh, live: true, gap: "", why: "" };
  }

  /** @returns {Poll} */
  #silence() {
    if (this.#heardAt !== null) {
      const since = this.#heardAt.toLocaleTimeString("en-GB");
      return this.#nothing(`The kernel is busy or gone, silent since ${since}.`);
    }
    const why =
      "No kernel answers yet: it is busy with another cell, or there is none. This is " +
      "what the notebook kept; without a kernel, run the cell to see it live.";
    if (this.#kept !== null || this.#run !== null) return this.#nothing(why);
    const kept = this.#model.get("kept") ?? {};
    this.#kept = kept;
    this.#status = kept.status ?? null;
    const lines = (kept.lines ?? []).filter(isLine);
    return {
      status: this.#status,
      heard: false,
      lines,
      fresh: true,
      live: false,
      gap: "server",
      why,
    };
  }

  /**
   * @param {string} why
   * @param {Gap} [gap]
   * @returns {Poll}
   */
  #nothing(why, gap = "server") {
    return { status: this.#status, heard: false, lines: [], fresh: false, live: false, gap, why };
  }

  /** @param {IndexLine} line */
  async image(line) {
    const key = `${line.name} ${line.crc32}`;
    let url = this.#urls.get(key);
    if (url === undefined) {
      url = this.#fetch(line);
      url.catch(() => this.#urls.delete(key)); // requested again next time
    }
    this.#urls.delete(key); // the most recently used is the last
    this.#urls.set(key, url);
    this.#forget();
    return url;
  }

  /** @param {IndexLine} line */
  async #fetch(line) {
    const kept = this.#kept?.pictures?.[line.name];
    if (kept !== undefined) return URL.createObjectURL(new Blob([kept]));
    const asked = this.#kernel.request({ ask: "image", run: this.#run, name: line.name });
    const given = await within(asked, ANSWER_MS);
    if (given === null) throw new Error("the kernel does not answer");
    const [answer, buffers] = given;
    return URL.createObjectURL(new Blob(buffers, { type: answer.type }));
  }

  /** @param {IndexLine} line */
  async values(line) {
    const asked = this.#kernel.request({ ask: "values", run: this.#run, name: line.name });
    const given = await within(asked, ANSWER_MS);
    if (given === null) throw new Error("the kernel does not answer");
    const [payload] = given[1];
    return new Uint8Array(payload.buffer, payload.byteOffset, payload.byteLength);
  }

  /** @param {string} hash */
  async grid(hash) {
    const given = await within(
      this.#kernel.request({ ask: "grid", run: this.#run, hash }),
      ANSWER_MS,
    );
    if (given === null) throw new Error("the kernel does not answer");
    return given[0].grid;
  }

  #forget() {
    for (const [key, url] of this.#urls) {
      if (this.#urls.size <= HELD_URLS) return;
      this.#urls.delete(key);
      release(url);
    }
  }

  /** @returns {null} */
  link() {
    return null; // a notebook's server may show other folders, or none
  }

  /** @returns {Source["series"]} */
  get series() {
    return this.#heardAt === null ? null : (...words) => this.#series(...words);
  }

  /** @type {NonNullable<Source["series"]>} */
  async #series(query, take, signal) {
    for (let before = {}; !signal.aborted; ) {
      const asked = this.#kernel.request({ ask: "series", run: this.#run, ...query, ...before });
      const given = await within(asked, ANSWER_MS);
      if (given === null) throw new Error("the kernel does not answer");
      const [{ rows, more }] = given;
      for (const [time, value, why] of rows) take(time, value ?? NaN, why);
      if (!more) return;
      before = { before: rows[rows.length - 1][0] };
    }
  }

  get movie() {
    return null;
  }

  get endsOnly() {
    return false;
  }

  /**
   * @param {string} name
   * @param {number} begin
   * @param {number} length
   * @returns {Promise<LogPart>}
   */
  async log(name, begin, length) {
    const asked = this.#kernel.request({ ask: "log", run: this.#run, name, begin, length });
    const given = await within(asked, ANSWER_MS);
    if (given === null) throw new Error("the kernel does not answer");
    const [answer, [data]] = given;
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    return { bytes, begin: answer.begin, size: answer.size };
  }

  async about() {
    const asked = this.#kernel.request({ ask: "about", run: this.#run });
    const given = await within(asked, ANSWER_MS);
    if (given === null) throw new Error("the kernel does not answer");
    return given[0].texts;
  }

  /** @returns {Source["ask"]} */
  get ask() {
    if (!this.#mayStop) return null;
    return async (what) => {
      const asked = this.#kernel.request({ ask: "control", run: this.#run, what });
      const given = await within(asked, ANSWER_MS);
      if (given === null) throw new Error("the kernel does not answer");
    };
  }

  async others() {
    const given = await within(this.#kernel.request({ ask: "others" }), ANSWER_MS).catch(
      () => null,
    );
    return given === null ? null : given[0].runs;
  }

  /** @param {Pick<OtherRun, "run">} run */
  open(run) {
    return new WidgetSource(this.#model, run.run);
  }

  close() {
    this.#kernel.close();
    for (const url of this.#urls.values()) release(url);
    this.#urls.clear();
  }
}

/**
 * Two polls as one: at first a long index comes in several parts.
 * @param {Poll} first
 * @param {Poll} next
 * @returns {Poll}
 */
function joined(first, next) {
  if (next.fresh) return next;
  return { ...next, lines: first.lines.concat(next.lines), fresh: first.fresh };
}

/**
 * The promise's value, or null when it takes longer.
 * @template Value
 * @param {Promise<Value>} promise
 * @param {number} limit
 * @returns {Promise<Value | null>}
 */
function within(promise, limit) {
  /** @type {number | undefined} */
  let timer;
  /** @type {Promise<null>} */
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve(null), limit);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** @param {Promise<string>} url */
function release(url) {
  url.then((known) => URL.revokeObjectURL(known)).catch(() => {});
}
