import { lastNotAfter } from "./album.js";

/** Pictures a second that can be chosen. */
export const RATES = [1, 2, 5, 10, 20, 30];

/** Which valid time is shown: chosen, played, or always the newest. */
export class Player {
  /** @type {string[]} */
  times = [];
  /** @type {string | null} */
  time = null;
  following = true;
  playing = false;
  rate = 10;
  /** Where the last step led, for what is loaded ahead. */
  direction = 1;
  #owed = 0;
  #source = "";

  /**
   * The valid times that can be shown: the union of these sorted lists.
   * @param {string[][]} lists
   * @param {string} version
   */
  offer(lists, version) {
    const source = `${version}:${lists.map((list) => list.length)}`;
    if (source === this.#source) return;
    this.#source = source;
    this.times = lists.length === 1 ? lists[0] : [...new Set(lists.flat())].sort();
    if (this.following || this.time === null) this.time = this.times.at(-1) ?? null;
  }

  /** The place of the shown time among all, or -1. */
  get index() {
    return this.time === null ? -1 : lastNotAfter(this.times, this.time);
  }

  /**
   * The place of the last time that is not after this one.
   * @param {string} time
   */
  indexOf(time) {
    return Math.max(0, lastNotAfter(this.times, time));
  }

  /**
   * Show the time at a place; the newest is followed only when asked.
   * @param {number} index
   */
  seek(index) {
    if (!this.times.length) return;
    const place = Math.min(this.times.length - 1, Math.max(0, index));
    this.direction = place < this.index ? -1 : 1;
    this.time = this.times[place];
    this.following = false;
  }

  /** @param {number} by */
  step(by) {
    this.playing = false;
    this.seek(this.index + by);
  }

  first() {
    this.playing = false;
    this.seek(0);
  }

  /** Show the newest, and each newer one as it comes. */
  follow() {
    this.playing = false;
    this.following = true;
    this.time = this.times.at(-1) ?? null;
  }

  toggle() {
    this.playing = !this.playing;
    if (this.playing && this.index >= this.times.length - 1) this.seek(0);
    this.#owed = 0;
  }

  /**
   * Time has passed; returns whether another picture is to be shown.
   * @param {number} seconds
   * @param {boolean} live
   */
  pass(seconds, live) {
    if (!this.playing) return false;
    // What could not be shown in time is not made up for.
    this.#owed = Math.min(2, this.#owed + seconds * this.rate);
    if (this.#owed < 1) return false;
    this.#owed -= 1;
    if (this.index < this.times.length - 1) this.seek(this.index + 1);
    else if (live) this.follow();
    else this.playing = false;
    return true;
  }
}
