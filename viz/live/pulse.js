/** Seconds without a new heartbeat after which a driver is taken for dead. */
export const SILENT_S = 15;

/**
 * Whether a driver lives, judged by whether its heartbeat changes. Clocks of two machines are
 * never compared: they may be minutes apart.
 */
export class Pulse {
  #beat = null;
  #heard = performance.now();
  #before = null;

  hear(status) {
    const beat = status?.driver?.heartbeat ?? null;
    if (beat === this.#beat) return;
    this.#beat = beat;
    this.#heard = performance.now();
    this.#before = new Date();
  }

  /** Seconds since the heartbeat changed, as far as this page has seen. */
  get silence() {
    return (performance.now() - this.#heard) / 1000;
  }

  /** The time of day at which it changed, on the viewer's clock. */
  get last() {
    return this.#before?.toLocaleTimeString("en-GB") ?? "";
  }
}
