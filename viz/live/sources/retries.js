const LONGEST_MS = 60_000;

/** What could not be loaded, and when each is tried again: after each failure in twice the time. */
export class Retries {
  #first;
  /** @type {Map<string, { due: number, wait: number }>} in milliseconds */
  #failed = new Map();

  /** @param {number} first the pause after the first failure, in milliseconds */
  constructor(first) {
    this.#first = first;
  }

  /** @param {string} key */
  has(key) {
    return this.#failed.has(key);
  }

  /**
   * Whether it has not failed, or its pause is over.
   * @param {string} key
   */
  isDue(key) {
    return (this.#failed.get(key)?.due ?? 0) <= performance.now();
  }

  /**
   * Note a failure; returns the pause until it is due, in milliseconds.
   * @param {string} key
   */
  add(key) {
    const wait = Math.min(2 * (this.#failed.get(key)?.wait ?? this.#first / 2), LONGEST_MS);
    this.#failed.set(key, { due: performance.now() + wait, wait });
    return wait;
  }

  /** @param {string} key */
  delete(key) {
    this.#failed.delete(key);
  }
}
