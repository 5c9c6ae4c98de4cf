import { placeIn, placeOut } from "../values/place.js";

/** @import { Changed, Place } from "../types.d.ts" */

/** Distinct for most colour-blind readers (Okabe and Ito 2008), the blue lighter for black letters. */
const COLOURS = ["#0080c8", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
const NAMES = "ABCDEFGHIJKLM"; // one more than places: the oldest is given up after it
const MOST = 12;

/**
 * A kept place: its name, a letter; and its colour in the picture and in the plot.
 * @typedef {{ name: string, place: Place, colour: string }} Pin
 */

/** The places that a reader keeps. */
export class Pins {
  /** @type {Pin[]} */
  list = [];
  #changed;

  /** @param {Changed} changed */
  constructor(changed) {
    this.#changed = changed;
  }

  /**
   * Keep a place, under that name where it is free; the oldest of too many is given up.
   * @param {Place} place
   * @param {string} [wanted]
   */
  add(place, wanted = "") {
    const free = [...NAMES].filter((one) => this.list.every(({ name }) => name !== one));
    const name = free.includes(wanted) ? wanted : free[0];
    const colour = COLOURS[NAMES.indexOf(name) % COLOURS.length];
    this.list = [...this.list, { name, place, colour }].slice(-MOST);
    this.#changed();
  }

  /** The kept places for a link, each behind its name. */
  write() {
    return this.list.map(({ name, place }) => name + placeOut(place)).join("_");
  }

  /**
   * Keep the places of a link, and no others; in older links they have no names.
   * @param {string} text
   */
  read(text) {
    if (text === this.write()) return;
    this.list = [];
    for (const part of text.split("_").slice(0, MOST)) {
      const place = placeIn(part.replace(/^[A-M]/, ""));
      if (place) this.add(place, part[0]);
    }
    this.#changed();
  }

  /** @param {Pin} pin */
  remove(pin) {
    this.list = this.list.filter((one) => one !== pin);
    this.#changed();
  }
}
