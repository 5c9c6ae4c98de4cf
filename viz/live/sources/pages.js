import { isLine } from "./source.js";

/** @import { IndexLine } from "../types.d.ts" */

/** Index lines per page, a script file; feed.py writes them. */
export const PAGE = 1000;
/** Pages that are read at once: more each time, fewer after they could not be read in time. */
const MOST = 32;
/** After so many vain readings a page is left out: it is lost, or damaged. */
const TRIES = 20;

/** The pages of a run's index: the newest is read first, the others when there is time. */
export class Pages {
  #read;
  #first = 0;
  #many = 1;
  #vain = 0;

  /** @param {(name: string) => Promise<any>} read */
  constructor(read) {
    this.#read = read;
  }

  /** Whether there are lines before those that were read. */
  get more() {
    return this.#first > 0;
  }

  /**
   * Begin with the newest page of an index of so many lines; returns its first line's number.
   * @param {number} total
   */
  begin(total) {
    this.#many = 1;
    this.#first = Math.max(0, total - 1 - ((total - 1) % PAGE));
    return this.#first;
  }

  /**
   * The page that begins with that line.
   * @param {number} first
   * @returns {Promise<any[]>}
   */
  at(first) {
    return this.#read(`frames-${String(first / PAGE).padStart(4, "0")}`);
  }

  /**
   * The next pages before those that were read, in order; none while they cannot be read.
   * @returns {Promise<IndexLine[]>}
   */
  async older() {
    const first = Math.max(0, this.#first - this.#many * PAGE);
    const pages = [];
    for (let at = first; at < this.#first; at += PAGE) pages.push(this.at(at));
    try {
      const lines = (await Promise.all(pages)).flat();
      this.#first = first;
      this.#many = Math.min(MOST, 4 * this.#many);
      this.#vain = 0;
      return lines.filter(isLine);
    } catch {
      this.#vain = pages.length > 1 ? 0 : this.#vain + 1;
      if (this.#vain === TRIES) [this.#first, this.#vain] = [first, 0];
      this.#many = Math.ceil(this.#many / 4);
      return [];
    }
  }
}
