import { PAGE, Pages } from "./pages.js";
import {
  FilesError,
  gridUrl,
  isLine,
  pictureUrl,
  Retry,
  relativeUrl,
  STATUS_MS,
  valuesUrl,
} from "./source.js";
import { fromBase64 } from "./values_file.js";

/** @import { RunStatus } from "../status.d.ts" */
/** @import { IndexLine, OtherRun, Poll, Source } from "../types.d.ts" */

/**
 * A run read through the script files in products/live/, inserted repeatedly: browsers
 * block fetch and modules under file://, but not these. `base` leads to the products folder.
 * @implements {Source}
 */
export class FileSource {
  #base;
  /** @type {RunStatus | null} */
  #status = null;
  #statusAt = -Infinity;
  #known = 0;
  #pages = new Pages((name) => this.#read(name));
  #retry = new Retry();

  /** @param {string} [base] */
  constructor(base = "") {
    this.#base = base;
  }

  /** @returns {Promise<Poll>} */
  async poll() {
    if (this.#retry.early) return this.#nothing();
    try {
      const due = performance.now() - this.#statusAt > STATUS_MS;
      const [status, count] = await Promise.all([
        due ? this.#read("status") : this.#status,
        this.#read("count"),
      ]);
      this.#status = status;
      if (due) this.#statusAt = performance.now();
      const { lines, fresh } = await this.#linesUpTo(count.lines);
      const older = fresh ? [] : await this.#pages.older();
      this.#retry.succeeded();
      const { more } = this.#pages;
      return { status, heard: due, lines, fresh, older, more, live: true, gap: "", why: "" };
    } catch {
      this.#retry.failed(await this.#cause());
      return this.#nothing();
    }
  }

  /** Why the scripts cannot be read: a failed script does not show whether a server answered. */
  async #cause() {
    const away = new FilesError("they are not available, or this page was moved");
    if (!location.protocol.startsWith("http")) return away;
    const url = `${this.#base}live/count.js`;
    return fetch(url, { method: "HEAD", cache: "no-store" }).then(
      () => away,
      (error) => error,
    );
  }

  /** @returns {Poll} */
  #nothing() {
    const { gap, why } = this.#retry;
    const { more } = this.#pages;
    const none = { heard: false, lines: [], fresh: false, live: false };
    return { status: this.#status, ...none, more, gap, why };
  }

  /**
   * @param {number} total
   * @returns {Promise<{ lines: IndexLine[], fresh: boolean }>}
   */
  async #linesUpTo(total) {
    const fresh = this.#known === 0 || total < this.#known;
    let known = fresh ? this.#pages.begin(total) : this.#known;
    const lines = [];
    while (known < total) {
      const first = known - (known % PAGE);
      const chunk = await this.#pages.at(first);
      if (first + chunk.length <= known) break; // an older copy: the next poll sees the new one
      lines.push(...chunk.slice(known - first).filter(isLine));
      known = first + chunk.length;
    }
    this.#known = known;
    return { lines, fresh };
  }

  /**
   * The value of a script that changes: what the driver wrote there.
   * @param {string} name
   */
  #read(name) {
    return this.#run(`${this.#base}live/${name}.js?${Date.now()}`);
  }

  /**
   * The value that a script file passes on.
   * @param {string} url
   * @returns {Promise<any>}
   */
  #run(url) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = url;
      script.onload = () => {
        script.remove();
        const value = handedOver.get(script);
        value === undefined ? reject(new Error(`${url} is empty`)) : resolve(value);
      };
      script.onerror = () => {
        script.remove();
        reject(new Error(`${url} cannot be read`));
      };
      globalThis.burstlensFeed ??= (value) => {
        if (document.currentScript) handedOver.set(document.currentScript, value);
      };
      document.head.append(script);
    });
  }

  /** @param {IndexLine} line */
  async image(line) {
    return pictureUrl(this.#base, line);
  }

  /** @param {IndexLine} line */
  async values(line) {
    return fromBase64(await this.#run(valuesUrl(this.#base, line)));
  }

  /** @param {string} hash */
  async grid(hash) {
    return this.#run(gridUrl(this.#base, hash));
  }

  /** @param {string} name */
  link(name) {
    return relativeUrl(this.#base, name);
  }

  get series() {
    return null;
  }

  get movie() {
    return null;
  }

  /** Only the ends of logs are there, in one script. */
  get endsOnly() {
    return true;
  }

  /**
   * @param {string} name
   * @param {number} begin
   * @param {number} length
   */
  async log(name, begin, length) {
    const found = (await this.#read("log"))[name];
    if (!found) throw new Error("only the server can show this log");
    const bytes = new TextEncoder().encode(found.text);
    // Bytes that are not UTF-8 have other lengths in the script: the size is only a measure then.
    const first = Math.max(0, found.size - bytes.length);
    const from = Math.max(first, begin < 0 ? found.size + begin : begin);
    const part = bytes.subarray(from - first, from - first + length);
    return { bytes: part, begin: from, size: first + bytes.length };
  }

  /** @returns {Promise<Record<string, string>>} */
  about() {
    return this.#read("recipe");
  }

  get ask() {
    return null;
  }

  /** @returns {Promise<null>} */
  async others() {
    return null;
  }

  /** @param {Pick<OtherRun, "run">} run */
  open(run) {
    return new FileSource(`${this.#base}../../${encodeURIComponent(run.run)}/products/`);
  }

  close() {}
}

/** @type {WeakMap<HTMLOrSVGScriptElement, unknown>} */
const handedOver = new WeakMap();
