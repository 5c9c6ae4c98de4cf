/** @import { Changed, Place } from "../types.d.ts" */

/** The place under the pointer, shared by all pictures; and whether anything asks for values. */
export class Cursor {
  /** @type {Place | null} */
  place = null;
  #changed;

  /** @param {Changed} changed */
  constructor(changed) {
    this.#changed = changed;
  }

  /** Whether the pointer is over a picture, so that values are needed. */
  asks = false;

  /** The pointer has moved: what lies under it is read at the next drawing. */
  moved() {
    this.asks = true;
    this.#changed();
  }

  leave() {
    this.asks = false;
    this.place = null;
    this.#changed();
  }
}
