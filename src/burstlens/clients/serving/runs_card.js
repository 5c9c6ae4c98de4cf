/**
 * A run in the list, as shelf.py describes it.
 *
 * @typedef {object} Row
 * @property {string} run
 * @property {string} title
 * @property {string} state
 * @property {boolean} over  whether it goes on no more: a look may be quiet either way
 * @property {string | null} looks_at  the folder in which others started the model
 * @property {number} frames
 * @property {number} alarms  those of guards included
 * @property {number | null} fraction
 * @property {string | null} time  valid-time key
 * @property {number | null} eta_s
 * @property {number | null} speed  model seconds per second
 * @property {number | null} rate_mpps  million grid points per second
 * @property {number | null} started  seconds since 1970
 * @property {string} path  of its folder, relative to the list
 * @property {string | null} picture  of the newest one, relative to the list
 */

const LOADS_AT_ONCE = 4;
/** After a picture that could not be loaded. */
const AGAIN_MS = 10_000;
/** How far out of sight pictures are loaded. */
const AROUND = "300px";

/** Loads the pictures of cards in sight, a few at a time, and lets go of all others. */
export class Thumbnails {
  /** @type {Map<Element, Card>} */
  #seen = new Map();
  /** @type {WeakMap<Element, Card>} */
  #cards = new WeakMap();
  #loading = 0;
  #watch = new IntersectionObserver((entries) => this.#take(entries), { rootMargin: AROUND });

  /** @param {Card} card */
  add(card) {
    this.#cards.set(card.root, card);
    this.#watch.observe(card.root);
  }

  /** @param {IntersectionObserverEntry[]} entries */
  #take(entries) {
    for (const { target, isIntersecting } of entries) {
      const card = this.#cards.get(target);
      if (!card) continue;
      if (isIntersecting) this.#seen.set(target, card);
      else if (this.#seen.delete(target)) card.forget();
    }
    this.load();
  }

  load() {
    for (const card of this.#seen.values()) {
      if (this.#loading >= LOADS_AT_ONCE) return;
      if (!card.wants) continue;
      this.#loading += 1;
      card.load().finally(() => {
        this.#loading -= 1;
        this.load();
      });
    }
  }
}

/** One run in the list. */
export class Card {
  /** @type {string | null} */
  #place = null;
  /** @type {string | null} */
  #shown = null;
  #tried = "";
  #text = "";

  /**
   * `choose(run, yes)` is called when the run's box is ticked.
   * @param {string} run
   * @param {(run: string, yes: boolean) => void} choose
   */
  constructor(run, choose) {
    this.root = element("li");
    this.link = element("a", "", this.root);
    this.view = element("div", "view", this.link);
    const words = element("div", "words", this.link);
    this.title = element("h2", "", words);
    this.folder = element("div", "folder", words);
    const first = element("div", "row", words);
    this.state = element("span", "state", first);
    this.alarms = element("span", "alarms", first);
    this.frames = element("span", "", first);
    this.progress = element("progress", "", words);
    const last = element("div", "row", words);
    this.time = element("span", "", last);
    this.pace = element("span", "", last);
    const least = element("div", "row", words);
    this.id = element("span", "id", least);
    this.began = element("span", "", least);
    const label = element("label", "pick", this.root);
    this.pick = element("input", "", label);
    this.pick.type = "checkbox";
    this.pick.tabIndex = -1; // X chooses the run that has the focus
    this.pick.addEventListener("change", () => choose(run, this.pick.checked));
    this.root.dataset.run = run;
  }

  /** @param {Row} row */
  show(row) {
    const text = JSON.stringify(row);
    if (text === this.#text) return;
    this.#text = text;
    const over = row.state === "quiet" && row.over;
    this.link.href = `${row.path}products/index.html`;
    this.link.className = over ? "over" : row.state;
    set(this.title, row.title || row.run);
    set(this.folder, row.looks_at ? `looks at ${row.looks_at}` : "");
    this.folder.hidden = !row.looks_at;
    set(this.state, over ? "quiet, ended" : row.state);
    set(this.alarms, row.alarms ? counted(row.alarms, "alarm") : "");
    set(this.frames, counted(row.frames, "frame"));
    set(this.id, row.run);
    set(this.began, row.started ? `began ${date(row.started)}` : "");
    set(this.time, modelTime(row.time));
    set(this.pace, paceOf(row));
    this.pick.setAttribute("aria-label", `Choose ${row.title || row.run} to show side by side`);
    this.progress.hidden = row.fraction === null || row.over;
    if (row.fraction !== null) this.progress.value = row.fraction;
    this.progress.setAttribute("aria-label", "model time");
    this.#place = row.picture;
    if (row.picture === null) {
      this.#shown = null;
      this.#tried = "";
      set(this.view, "no picture yet");
    }
  }

  /** Whether another picture is to be loaded than the one that is shown. */
  get wants() {
    return this.#place !== null && this.#place !== this.#shown && this.#place !== this.#tried;
  }

  async load() {
    const place = this.#place;
    if (place === null) return;
    this.#tried = place;
    const shown = element("img");
    shown.alt = "";
    shown.src = place;
    // The previous picture stays until this one is decoded.
    await shown.decode().catch(() => {});
    if (this.#tried !== place) return;
    if (!shown.naturalWidth) {
      setTimeout(() => this.#retry(place), AGAIN_MS);
      return;
    }
    this.#shown = place;
    this.view.replaceChildren(shown);
  }

  /** @param {string} place */
  #retry(place) {
    if (this.#tried === place) this.#tried = "";
  }

  /** Out of sight: the picture takes no memory. */
  forget() {
    this.#shown = null;
    this.#tried = "";
    this.view.querySelector("img")?.remove();
  }
}

/**
 * An element inside another one.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} tag
 * @param {string} [kind]
 * @param {Element | null} [parent]
 */
function element(tag, kind = "", parent = null) {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  parent?.append(made);
  return made;
}

/**
 * Set a text, never markup: titles and names come from recipes and folders.
 * @param {Element} node
 * @param {string} text
 */
export function set(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * @param {number} count
 * @param {string} thing
 */
function counted(count, thing) {
  return `${count} ${thing}${count === 1 ? "" : "s"}`;
}

/**
 * Speed and time to go.
 * @param {Row} row
 */
function paceOf(row) {
  const { speed, rate_mpps: rate, eta_s: eta } = row;
  const pace = speed ? `${+speed.toPrecision(3)} × real time` : "";
  const going = pace || (rate ? `${+rate.toPrecision(3)} Mpoint/s` : "");
  return row.over || !eta ? going : [going, `${duration(eta)} to go`].filter(Boolean).join(", ");
}

/** @param {number} seconds */
function duration(seconds) {
  const minutes = Math.round(seconds / 60);
  if (minutes < 1) return `${Math.round(seconds)} s`;
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/**
 * To the minute, in the viewer's time, as `burstlens list` has it.
 * @param {number} seconds
 */
function date(seconds) {
  return new Date(1000 * seconds).toLocaleString("sv-SE").slice(0, 16);
}

/**
 * A valid-time key in readable form.
 * @param {string | null} key
 */
function modelTime(key) {
  if (!key) return "";
  if (/^[tu]/.test(key)) return `${Number(key.slice(1))} s`;
  const found = /^(\d{4}|-\d{6}|y\d{6})(\d\d)(\d\d)T(\d\d)(\d\d)/.exec(key);
  if (!found) return key;
  const [, text, month, day, hour, minute] = found;
  // A year below 0 is kept as what it is more than -1,000,000.
  const year = text.startsWith("-") ? Number(text) * -1 - 1e6 : Number(text.replace("y", ""));
  const shown = (year < 0 ? "-" : "") + String(Math.abs(year)).padStart(4, "0");
  return `${shown}-${month}-${day} ${hour}:${minute} UTC`;
}
