import { FileSource } from "./file_source.js";
import { Retry, parseLines, pictureUrl, relativeUrl } from "./source.js";

const TIMEOUT_MS = 10_000;

/**
 * A run behind a web server; `base` is the URL of its products folder, with a slash at its end.
 *
 * The index is read from where it ended last, one byte earlier: that byte must be a line's end,
 * and no server has to say that there is nothing (416), which browsers log as an error. A server
 * that gives no parts of files is read through the script files instead.
 */
export class HttpSource {
  #base;
  #offset = 0;
  #served = null;
  #status = null;
  #retry = new Retry();
  #instead = null;

  constructor(base = "") {
    this.#base = base;
  }

  async poll() {
    if (this.#instead) return this.#instead.poll();
    if (this.#retry.early) return this.#nothing();
    try {
      this.#status = await this.#readStatus();
      if (this.#instead) return this.#instead.poll();
      const { lines, fresh } = await this.#readIndex();
      if (this.#instead) return this.#instead.poll();
      this.#retry.succeeded();
      return { status: this.#status, lines, fresh, live: true, why: "" };
    } catch {
      this.#retry.failed();
      return this.#nothing();
    }
  }

  #nothing() {
    return { status: this.#status, lines: [], fresh: false, live: false, why: this.#retry.why };
  }

  async #readStatus() {
    const answer = await fetch(`${this.#base}../status.json`, request());
    if (!answer.ok) throw new Error(answer.statusText);
    this.#served = answer.headers.get("Burstlens-Serve");
    if (this.#served === null && answer.headers.get("Accept-Ranges") !== "bytes") {
      this.#instead = new FileSource(this.#base);
    }
    try {
      return await answer.json();
    } catch {
      return this.#status; // caught while it was written
    }
  }

  async #readIndex() {
    const fresh = this.#offset === 0;
    const range = fresh ? {} : { Range: `bytes=${this.#offset - 1}-` };
    const abort = new AbortController();
    const answer = await fetch(`${this.#base}index.jsonl`, request(range, abort.signal));
    if (!fresh && answer.status === 200) {
      abort.abort(); // megabytes, each time
      this.#instead = new FileSource(this.#base);
      return { lines: [], fresh };
    }
    if (answer.status === 416) return this.#anew();
    if (!answer.ok) throw new Error(answer.statusText);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    if (!fresh && bytes[0] !== 10) return this.#anew();
    const added = fresh ? bytes : bytes.subarray(1);
    // Decoded up to the last whole line only: a character may be torn as well.
    const whole = added.subarray(0, added.lastIndexOf(10) + 1);
    this.#offset += whole.length;
    return { lines: parseLines(new TextDecoder().decode(whole)).lines, fresh };
  }

  /** The index is another one than before. */
  #anew() {
    this.#offset = 0;
    return this.#readIndex();
  }

  async image(line) {
    return pictureUrl(this.#base, line);
  }

  link(name) {
    return relativeUrl(this.#base, name);
  }

  get ask() {
    return this.#served === "stop" ? (what) => this.#post(what) : null;
  }

  async #post(what) {
    const answer = await fetch(`${this.#base}../control`, {
      ...request({ "Content-Type": "application/json", "X-Burstlens": "1" }),
      method: "POST",
      body: JSON.stringify({ ask: what }),
    });
    if (answer.ok) return;
    const told = await answer.json().catch(() => ({}));
    throw new Error(told.error ?? `the server answered ${answer.status}`);
  }

  async others() {
    if (this.#served === null) return null;
    const answer = await fetch(`${this.#base}../../runs.json`, request());
    return answer.ok ? answer.json() : null;
  }

  open(run) {
    return new HttpSource(`${this.#base}../../${encodeURIComponent(run.run)}/products/`);
  }

  close() {
    this.#instead?.close();
  }
}

function request(headers = {}, signal = null) {
  const late = AbortSignal.timeout(TIMEOUT_MS);
  return {
    cache: "no-store",
    credentials: "same-origin",
    headers,
    signal: signal ? AbortSignal.any([signal, late]) : late,
  };
}
