/**
 * @typedef {object} Part
 * @property {(text: string) => void} read  applies the text of a link; "" is the default
 * @property {() => string} write  the text of what is shown; "" leaves the part out
 * @property {boolean} step  whether a change is a step of the back button
 */

const LONGEST = 8000;
/** Browsers refuse more than about a hundred changes in half a minute. */
const PAUSE_MS = 400;

/**
 * The view in the fragment of the page's URL, which no server gets. Each part of the view has a
 * name there and reads and writes its own text. A text that a part cannot use changes nothing.
 */
export class Address {
  /** @type {Map<string, Part>} */
  #parts = new Map();
  /** @type {Map<string, string>} */
  #last = new Map();
  /** Names that nobody here knows: those of a newer version are kept. */
  #given = new Map();
  #window;
  #changed = () => {};
  /** @type {number | undefined} */
  #later;
  #at = -Infinity;
  #apply = () => {
    this.#load();
    for (const name of this.#parts.keys()) this.#read(name);
    this.#changed();
  };

  /** @param {Window} [page] */
  constructor(page = window) {
    this.#window = page;
    this.#load();
    page.addEventListener("popstate", this.#apply); // also when the fragment is edited
  }

  /**
   * Register a part; it reads its text at once, and again when the user goes back. `step`: whether
   * its changes are steps of the back button; others replace the current address.
   * @param {string} name
   * @param {(text: string) => void} read
   * @param {() => string} write
   * @param {boolean} [step]
   */
  part(name, read, write, step = true) {
    this.#parts.set(name, { read, write, step });
    this.#read(name);
  }

  /**
   * `changed()` is called after parts have read another address.
   * @param {() => void} changed
   */
  follow(changed) {
    this.#changed = changed;
  }

  /** Bring the URL up to date with what is shown. */
  update() {
    const now = this.#written();
    const names = new Set([...now.keys(), ...this.#last.keys()]);
    const changed = [...names].filter((name) => now.get(name) !== this.#last.get(name));
    if (!changed.length) return;
    const step = changed.some((name) => this.#parts.get(name)?.step);
    const early = this.#at + PAUSE_MS - performance.now();
    if (!step && early > 0) {
      this.#later ??= setTimeout(() => {
        this.#later = undefined;
        this.update();
      }, early);
      return;
    }
    this.#at = performance.now();
    this.#last = now;
    this.#put(step);
  }

  /** The link to what is shown now, without a query, which may hold a server's token. */
  get link() {
    const { origin, protocol, pathname } = this.#window.location;
    const fragment = fragmentOf(this.#given, this.#written());
    return (protocol === "file:" ? "file://" : origin) + pathname + fragment;
  }

  /** @param {boolean} step */
  #put(step) {
    const { location, history } = this.#window;
    const url = location.pathname + location.search + fragmentOf(this.#given, this.#last);
    try {
      if (step) history.pushState(null, "", url);
      else history.replaceState(null, "", url);
    } catch {
      return; // too many, or a frame that may not: the next change tries again
    }
  }

  #written() {
    const found = new Map();
    for (const [name, { write }] of this.#parts) {
      const text = write();
      if (text) found.set(name, text);
    }
    return found;
  }

  #load() {
    const text = this.#window.location.hash.slice(1, LONGEST);
    this.#given = new Map(new URLSearchParams(text.replaceAll("+", "%2B")));
  }

  /** @param {string} name */
  #read(name) {
    const part = this.#parts.get(name);
    const text = this.#given.get(name) ?? "";
    this.#given.delete(name);
    try {
      part?.read(text);
    } catch {
      part?.read("");
    }
    const shown = part?.write();
    if (shown) this.#last.set(name, shown);
    else this.#last.delete(name);
  }

  close() {
    clearTimeout(this.#later);
    this.#window.removeEventListener("popstate", this.#apply);
  }
}

/** @param {Map<string, string>[]} maps */
function fragmentOf(...maps) {
  const pairs = maps.flatMap((map) => [...map]);
  return pairs.length ? `#${pairs.map((pair) => pair.map(encoded).join("=")).join("&")}` : "";
}

/**
 * Percent-encoded, except for what a fragment may hold: links stay readable.
 * @param {string} text
 */
export function encoded(text) {
  return encodeURIComponent(text).replace(/%(2C|3A|40|2F|7E)/g, decodeURIComponent);
}

/**
 * The names in a part's text. One that could lead to another folder is left out: names of runs
 * become URLs.
 * @param {string} text
 */
export function namesIn(text) {
  return text
    .split(",")
    .map((name) => decodeURIComponent(name))
    .filter((name) => name.length < 256 && /^(?!\.\.?$)[^/\\\p{C}]+$/u.test(name));
}

/**
 * The text of these names.
 * @param {string[]} names
 */
export function namesOut(names) {
  return names.map((name) => name.replace(/[%,@]/g, encodeURIComponent)).join(",");
}
