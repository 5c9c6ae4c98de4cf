/** @import { Gap, IndexLine } from "../types.d.ts" */

/**
 * A name relative to products/ as a relative URL; null when it would lead out of that folder.
 * @param {string} base
 * @param {string} name
 */
export function relativeUrl(base, name) {
  const parts = String(name).split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..")) return null;
  return base + parts.map(encodeURIComponent).join("/");
}

/**
 * The URL of a picture, with its checksum, so that a replaced picture is not taken from a cache.
 * @param {string} base
 * @param {Pick<IndexLine, "name" | "crc32">} line
 */
export function pictureUrl(base, line) {
  const url = relativeUrl(base, line.name);
  if (url === null) throw new Error(`${line.name} is not the name of a product`);
  return `${url}?${line.crc32 ?? ""}`;
}

/**
 * The URL of a picture's values, with their checksum.
 * @param {string} base
 * @param {IndexLine} line
 */
export function valuesUrl(base, { name, values }) {
  if (!values) throw new Error(`${name} has no values`);
  return pictureUrl(base, values);
}

/**
 * The URL of the grid of that hash.
 * @param {string} base
 * @param {string} hash
 */
export function gridUrl(base, hash) {
  if (!/^[0-9a-f]{1,64}$/.test(hash)) throw new Error(`${hash} is not a grid`);
  return `${base}live/grid-${hash}.js`;
}

/**
 * The value that a script of the run passes on, by its text.
 * @param {string} text
 */
export function fed(text) {
  const found = /^burstlensFeed\((.*)\);\n$/s.exec(text);
  if (!found) throw new Error("the script is cut short");
  return JSON.parse(found[1]);
}

/**
 * The index lines in a text of whole lines; invalid ones are skipped.
 * @param {string} text
 * @returns {IndexLine[]}
 */
export function parseLines(text) {
  const lines = [];
  for (const part of text.split("\n")) {
    if (part === "") continue;
    try {
      const value = JSON.parse(part);
      if (isLine(value)) lines.push(value);
    } catch {
      // not JSON: not a line of Burstlens
    }
  }
  return lines;
}

/**
 * Whether a value is a line of the index as far as the view relies on it.
 * @param {unknown} value
 * @returns {value is IndexLine}
 */
export function isLine(value) {
  if (value === null || typeof value !== "object") return false;
  const { product, stream, time, name } = /** @type {Partial<IndexLine>} */ (value);
  return [product, stream, time, name].every((one) => typeof one === "string");
}

/**
 * The message of an error; in JavaScript anything can be thrown.
 * @param {unknown} error
 */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/** status.json is written once a second, lines of the index as they come. */
export const STATUS_MS = 900;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;

/** The server answered but cannot read the run's files; the message is shown to users. */
export class FilesError extends Error {}

/** When to retry a failed request: after a pause that doubles. */
export class Retry {
  /** @type {Date | null} */
  #since = null;
  #pause = 0;
  #next = 0;
  #reason = "";
  #subject;

  /**
   * What cannot be reached.
   * @type {Gap}
   */
  gap = "";

  /** @param {string} [subject] */
  constructor(subject = "The run's files") {
    this.#subject = subject;
  }

  /** Whether it is still too early to try. */
  get early() {
    return performance.now() < this.#next;
  }

  /** The request succeeded. */
  succeeded() {
    this.#since = null;
    this.#pause = 0;
    this.#next = 0;
    this.gap = "";
  }

  /**
   * The request failed; `error` is a FilesError when a server answered.
   * @param {unknown} error
   */
  failed(error) {
    const answered = error instanceof FilesError;
    const gap = answered ? "files" : "server";
    if (gap !== this.gap) this.#since = null;
    this.gap = gap;
    this.#reason = answered ? error.message : "";
    this.#since ??= new Date();
    this.#pause = Math.min(LONGEST_PAUSE_MS, this.#pause * 2 || FIRST_PAUSE_MS);
    this.#next = performance.now() + this.#pause;
  }

  /** A message for users. */
  get why() {
    if (this.#since === null) return "";
    const since = this.#since.toLocaleTimeString("en-GB");
    return this.gap === "server"
      ? `Not reachable since ${since}: the server does not answer, the run may go on.`
      : `${this.#subject} cannot be read since ${since}: ${this.#reason}. The run may go on.`;
  }
}

/**
 * The message for a status that cannot be drawn (another version, another program); the view
 * keeps polling.
 * @param {unknown} error
 */
export function unshown(error) {
  return `Something here cannot be shown (${messageOf(error)}); trying again.`;
}
