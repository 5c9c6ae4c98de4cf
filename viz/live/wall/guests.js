import { namesIn, namesOut } from "../sharing/address.js";
import { Comparison } from "./comparison.js";

/** @import { Changed, Source } from "../types.d.ts" */

/** Runs besides the page's own, so that six are seen. */
const MOST = 5;
const HELD_BYTES = 96 * 2 ** 20;

/** Other runs, each in views of its own beside those of the page's run. */
export class Guests {
  /** @type {Comparison[]} */
  runs = [];
  #source;
  #changed;

  /**
   * @param {Source} source
   * @param {Changed} changed
   */
  constructor(source, changed) {
    this.#source = source;
    this.#changed = changed;
  }

  /**
   * Show exactly these runs; those that are shown already stay.
   * @param {string[]} names
   */
  invite(names) {
    const wanted = [...new Set(names)].slice(0, MOST);
    for (const one of this.runs) if (!wanted.includes(one.run)) one.close();
    this.runs = wanted.map(
      (run) =>
        this.runs.find((one) => one.run === run) ??
        new Comparison(run, this.#source.open({ run }), this.#changed, HELD_BYTES),
    );
    this.#changed();
  }

  /** @param {string} run */
  add(run) {
    this.invite([...this.names, run]);
  }

  /** @param {string} run */
  remove(run) {
    this.invite(this.names.filter((name) => name !== run));
  }

  get names() {
    return this.runs.map(({ run }) => run);
  }

  /** @param {string} text */
  read(text) {
    this.invite(text ? namesIn(text) : []);
  }

  /** The text of read(). */
  write() {
    return namesOut(this.names);
  }

  /**
   * The valid times of these series in each run.
   * @param {string[]} ids
   */
  times(ids) {
    return this.runs.flatMap(({ album }) => ids.map((id) => album.series.get(id)?.times ?? []));
  }

  close() {
    this.invite([]);
  }
}
