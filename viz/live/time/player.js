import { lastNotAfter } from "./album.js";

/** Speeds that can be chosen, in pictures per second. */
export const RATES = [1, 2, 5, 10, 20, 30];

/** The valid time that is shown: chosen, playing, or always the newest. */
export class Player {
  /** @type {string[]} */
  times = [];
  /** @type {string | null} */
  time = null;
  following = true;
  playing = false;
  rate = 10;
  /** Direction of the latest step, for loading ahead. */
  direction = 1;
  #owed = 0;
  #source = "";
  /** @type {string | null} */
  #newest = null;
  /** The time of a link, until the frames are known that lie around it. */
  #wanted = "";

  /**
   * The valid times that can be shown: the union of these sorted lists.
   * `more`: earlier ones are still to come. The newest one is the last that is not stale.
   * @param {string[][]} lists
   * @param {string} version
   * @param {boolean} [more]
   * @param {(time: string) => boolean} [isStale]
   */
  offer(lists, version, more = false, isStale = () => false) {
    const source = `${version}:${more}:${lists.map((list) => list.length)}`;
    if (source === this.#source) return;
    this.#source = source;
    this.times = lists.length === 1 ? lists[0] : [...new Set(lists.flat())].sort();
    this.#newest = this.times.findLast((time) => !isStale(time)) ?? this.times.at(-1) ?? null;
    if (this.following || this.time === null) this.time = this.#newest;
    else if (more && this.#wanted < (this.times[0] ?? "~")) return;
    else if (this.#wanted && this.#wanted <= (this.times.at(-1) ?? "")) {
      this.seek(this.indexOf(this.#wanted));
    }
  }

  /**
   * Show this time of a link, or the frame before it, once that is known.
   * @param {string} time
   */
  open(time) {
    Object.assign(this, { playing: false, following: false, time });
    this.#wanted = time;
    this.#source = "";
  }

  /** The index of the shown time, or -1. */
  get index() {
    return this.time === null ? -1 : lastNotAfter(this.times, this.time);
  }

  /**
   * The index of the latest time that is not after this one.
   * @param {string} time
   */
  indexOf(time) {
    return Math.max(0, lastNotAfter(this.times, time));
  }

  /**
   * Show the time at an index; this does not follow the newest one.
   * @param {number} index
   */
  seek(index) {
    if (!this.times.length) return;
    const place = Math.min(this.times.length - 1, Math.max(0, index));
    this.direction = place < this.index ? -1 : 1;
    this.time = this.times[place];
    this.following = false;
    this.#wanted = "";
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
    this.#wanted = "";
    this.time = this.#newest;
  }

  toggle() {
    this.playing = !this.playing;
    if (this.playing && this.index >= this.times.length - 1) this.seek(0);
    this.#owed = 0;
  }

  /**
   * Advance by `seconds`; returns whether another picture is to be shown.
   * @param {number} seconds
   * @param {boolean} live
   */
  pass(seconds, live) {
    if (!this.playing) return false;
    // Pictures that could not be shown in time are not caught up.
    this.#owed = Math.min(2, this.#owed + seconds * this.rate);
    if (this.#owed < 1) return false;
    this.#owed -= 1;
    if (this.index < this.times.length - 1) this.seek(this.index + 1);
    else if (live) this.follow();
    else this.playing = false;
    return true;
  }
}
