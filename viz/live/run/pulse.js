/** @import { RunStatus } from "../status.d.ts" */

/** Seconds without a new heartbeat after which a driver counts as dead. */
export const SILENT_S = 15;

/**
 * Whether a driver lives, judged by whether its heartbeat changes. Clocks of two machines are
 * never compared: they may be minutes apart.
 */
export class Pulse {
  /** @type {number | null} */
  #beat = null;
  #heard = performance.now();
  #looked = performance.now();
  /** @type {Date | null} */
  #before = null;
  #denied = 0;

  /**
   * `read`: whether the status was read in this poll; while it cannot be, the driver's state is
   * unknown.
   * @param {RunStatus | null} status
   * @param {boolean} read
   */
  hear(status, read) {
    if (!read) return;
    this.#looked = performance.now();
    const beat = status?.driver?.heartbeat ?? null;
    if (beat === this.#beat) return;
    this.#beat = beat;
    this.#denied = status?.driver_alive === false ? this.#denied + 1 : 0;
    this.#heard = performance.now();
    this.#before = new Date();
  }

  /**
   * Whether the heartbeat continued after another process, by its own clock, had reported the
   * driver as dead. One beat may arrive with that report: the final one before it died.
   */
  get denied() {
    return this.#denied > 1;
  }

  /** Seconds for which the heartbeat has not changed. */
  get silence() {
    return (this.#looked - this.#heard) / 1000;
  }

  /** The time of day at which it changed, on the viewer's clock. */
  get last() {
    return this.#before?.toLocaleTimeString("en-GB") ?? "";
  }
}
