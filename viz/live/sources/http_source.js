import { FileSource } from "./file_source.js";
import { PAGE, Pages } from "./pages.js";
import {
  FilesError,
  fed,
  gridUrl,
  isLine,
  parseLines,
  pictureUrl,
  Retry,
  relativeUrl,
  STATUS_MS,
  valuesUrl,
} from "./source.js";
import { fromBase64 } from "./values_file.js";

/** @import { RunStatus } from "../status.d.ts" */
/** @import { IndexLine, LogPart, Order, OtherRun, Poll, Source } from "../types.d.ts" */

/** Longer than burstlens serve waits for a file system, so that its error arrives. */
const TIMEOUT_MS = 15_000;
/** How long one poll reads a long index over a slow connection. */
const SLICE_MS = 400;
/** The series of a long run over a slow connection; the rest is asked for again. */
const SERIES_MS = 120_000;
/** Longer than burstlens serve works at one. */
const MOVIE_MS = 400_000;
const LINE_END = 10;

/**
 * A run behind a web server; `base` is the URL of its products folder, with a slash at its end.
 *
 * Of a long index the newest page is read first. The index is read from one byte before its former end. That byte must be a newline; with it a
 * server never answers that there is nothing (416), which browsers log as an error. A server that
 * does not support ranges is read through the script files instead.
 * @implements {Source}
 */
export class HttpSource {
  #base;
  #offset = 0;
  #pages = new Pages((name) => this.#live(name));
  /** @type {Tail | null} */
  #tail = null;
  /**
   * What burstlens serve allows; null for another server.
   * @type {string | null}
   */
  #served = null;
  /** @type {RunStatus | null} */
  #status = null;
  #statusAt = -Infinity;
  #statusRetry = new Retry("Its status");
  #indexRetry = new Retry();
  /** @type {FileSource | null} */
  #instead = null;

  /** @param {string} [base] */
  constructor(base = "") {
    this.#base = base;
  }

  /** @returns {Promise<Poll>} */
  async poll() {
    const found = this.#instead ?? (await this.#look());
    return found instanceof FileSource ? found.poll() : found;
  }

  /**
   * What a poll finds, or the source that reads the run instead.
   * @returns {Promise<Poll | FileSource>}
   */
  async #look() {
    // Separately: pictures arrive even while the status cannot be read.
    const due = performance.now() - this.#statusAt > STATUS_MS;
    const heard = due && (await attempt(this.#statusRetry, () => this.#readStatus())) === true;
    const found = this.#instead ? null : await attempt(this.#indexRetry, () => this.#readIndex());
    if (this.#instead) return this.#instead;
    if (found === null) this.#tail = null;
    const failed = this.#indexRetry.gap ? this.#indexRetry : this.#statusRetry;
    const { gap, why } = failed;
    const live = !this.#indexRetry.gap;
    const older = found && !found.fresh ? await this.#pages.older() : [];
    const { more } = this.#pages;
    const none = { lines: [], fresh: false };
    return { ...none, ...found, older, more, status: this.#status, heard, live, gap, why };
  }

  async #readStatus() {
    const answer = await fetch(`${this.#base}../status.json`, request());
    if (!answer.ok) throw await refused(answer, this.#status !== null);
    this.#statusAt = performance.now();
    this.#served = answer.headers.get("Burstlens-Serve");
    if (this.#served === null && answer.headers.get("Accept-Ranges") !== "bytes") {
      this.#instead = new FileSource(this.#base);
    }
    const status = await answer.json().catch(() => null); // read while it was being written
    this.#status = status ?? this.#status;
    return status !== null;
  }

  /** New lines of the index: {lines, fresh}; a long index takes several polls. */
  async #readIndex() {
    const fresh = this.#offset === 0;
    if (fresh && !this.#tail && this.#isLong) {
      const newest = await this.#newestPage().catch(() => null);
      if (newest) return newest;
      this.#pages.begin(0);
    }
    this.#tail ??= await this.#openTail(fresh);
    if (this.#tail === null) return { lines: [], fresh };
    const { bytes, ended } = await this.#tail.read();
    if (ended) this.#tail = null;
    this.#offset += bytes.length;
    return { lines: parseLines(new TextDecoder().decode(bytes)), fresh };
  }

  /** Whether the index may have more lines than a page. */
  get #isLong() {
    const { frames, products = {} } = this.#status ?? {};
    const counts = Object.values(products).map(({ published }) => published);
    return counts.reduce((sum, count) => sum + count, frames?.ready ?? 0) > PAGE;
  }

  /** The newest page of a long index; null where there is none, or where it is not up to date. */
  async #newestPage() {
    const { lines: total, bytes } = await this.#live("count");
    const first = this.#pages.begin(total);
    const page = first && bytes ? await this.#pages.at(first) : [];
    if (!page.length || page.length < total - first) return null;
    this.#offset = bytes;
    return { lines: page.slice(0, total - first).filter(isLine), fresh: true };
  }

  /** @param {string} name */
  async #live(name) {
    const answer = await fetch(`${this.#base}live/${name}.js`, request());
    if (!answer.ok) throw await refused(answer, true);
    return fed(await answer.text());
  }

  /** @param {boolean} fresh */
  async #openTail(fresh) {
    /** @type {Record<string, string>} */
    const range = fresh ? {} : { Range: `bytes=${this.#offset - 1}-` };
    const stop = new AbortController();
    const answer = await fetch(`${this.#base}index.jsonl`, {
      ...request(range),
      signal: stop.signal,
    });
    if (!fresh && answer.status === 200) {
      stop.abort(); // would read megabytes each time
      this.#instead = new FileSource(this.#base);
      return null;
    }
    if (answer.status === 416) return this.#anew();
    if (!answer.ok || !answer.body) throw await refused(answer, !fresh);
    const tail = new Tail(answer.body.getReader(), stop);
    return fresh || (await tail.first()) === LINE_END ? tail : this.#anew();
  }

  /** The index was replaced. */
  #anew() {
    this.#offset = 0;
    this.#pages.begin(0);
    return null;
  }

  /** @param {IndexLine} line */
  async image(line) {
    return pictureUrl(this.#base, line);
  }

  /** @param {IndexLine} line */
  async values(line) {
    return fromBase64(await this.#script(valuesUrl(this.#base, line)));
  }

  /** @param {string} hash */
  async grid(hash) {
    return this.#script(gridUrl(this.#base, hash));
  }

  /** @param {string} url */
  async #script(url) {
    const answer = await fetch(url, { ...request(), cache: "default" });
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    return fed(await answer.text());
  }

  /** @param {string} name */
  link(name) {
    return relativeUrl(this.#base, name);
  }

  /** @returns {Source["series"]} */
  get series() {
    return this.#served === null ? null : (...words) => this.#series(...words);
  }

  /** @type {NonNullable<Source["series"]>} */
  async #series({ product, stream, ...place }, take, signal) {
    const query = new URLSearchParams({ product, stream });
    for (const [name, at] of Object.entries(place)) query.set(name, String(at));
    const stop = new AbortController(); // AbortSignal.any is younger than the browsers of docs/live.md
    const end = () => stop.abort();
    setTimeout(end, SERIES_MS);
    signal.addEventListener("abort", end, { signal: stop.signal });
    const answer = await fetch(`${this.#base}../series?${query}`, {
      ...request(),
      signal: stop.signal,
    });
    if (!answer.ok || !answer.body) throw new Error(`the server answered ${answer.status}`);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ; ) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const found = JSON.parse(line);
        if (Array.isArray(found)) take(found[0], found[1] ?? NaN, found[2]);
      }
    }
  }

  /** @returns {Source["movie"]} */
  get movie() {
    return this.#served === null ? null : (series) => this.#movie(series);
  }

  /** @type {NonNullable<Source["movie"]>} */
  async #movie(series) {
    const answer = await fetch(`${this.#base}../movie?${new URLSearchParams(series)}`, {
      ...request(),
      signal: AbortSignal.timeout(MOVIE_MS),
    });
    if (answer.ok) return answer.blob();
    throw new Error((await answer.text()).trim().split("\n")[0]);
  }

  get endsOnly() {
    return this.#instead !== null;
  }

  /**
   * @param {string} name
   * @param {number} begin
   * @param {number} length
   * @returns {Promise<LogPart>}
   */
  async log(name, begin, length) {
    if (this.#instead) return this.#instead.log(name, begin, length);
    const url = relativeUrl(`${this.#base}../logs/`, name);
    if (url === null) throw new Error(`${name} is not the name of a log`);
    // First its size: a range behind its end would be an error, which browsers log.
    const head = await fetch(url, { ...request(), method: "HEAD" });
    if (!head.ok) throw await refused(head, true);
    const size = Number(head.headers.get("Content-Length"));
    const first = Math.min(size, Math.max(0, begin < 0 ? size + begin : begin));
    const last = Math.min(size, first + length) - 1;
    if (last < first) return { bytes: new Uint8Array(), begin: first, size };
    const answer = await fetch(url, request({ Range: `bytes=${first}-${last}` }));
    if (answer.status !== 206) throw await refused(answer, true);
    return { bytes: new Uint8Array(await answer.arrayBuffer()), begin: first, size };
  }

  /** @returns {Promise<Record<string, string>>} */
  async about() {
    if (this.#instead) return this.#instead.about();
    const names = ["recipe.toml", "run.json"];
    const texts = await Promise.all(
      names.map(async (name) => {
        const answer = await fetch(`${this.#base}../${name}`, request());
        if (!answer.ok) throw await refused(answer, true);
        return answer.text();
      }),
    );
    return Object.fromEntries(names.map((name, i) => [name, texts[i]]));
  }

  /** @returns {Source["ask"]} */
  get ask() {
    return this.#served === "stop" ? (what) => this.#post(what) : null;
  }

  /** @param {Order} what */
  async #post(what) {
    const answer = await fetch(`${this.#base}../control`, {
      ...request({ "Content-Type": "application/json", "X-Burstlens": "1" }),
      method: "POST",
      body: JSON.stringify({ ask: what }),
    });
    if (answer.ok) return;
    const reply = await answer.json().catch(() => ({}));
    throw new Error(reply.error ?? `the server answered ${answer.status}`);
  }

  /** @returns {Promise<OtherRun[] | null>} */
  async others() {
    if (this.#served === null) return null;
    const answer = await fetch(`${this.#base}../../runs.json`, request());
    return answer.ok ? answer.json() : null;
  }

  /** @param {Pick<OtherRun, "run">} run */
  open(run) {
    return new HttpSource(`${this.#base}../../${encodeURIComponent(run.run)}/products/`);
  }

  close() {
    this.#instead?.close();
  }
}

/** The end of a file while it arrives: its whole lines, in pieces. */
class Tail {
  #reader;
  #stop;
  #rest = new Uint8Array();

  /**
   * @param {ReadableStreamDefaultReader<Uint8Array>} reader
   * @param {AbortController} stop
   */
  constructor(reader, stop) {
    this.#reader = reader;
    this.#stop = stop;
  }

  /** The first byte, which is removed. */
  async first() {
    while (!this.#rest.length && !(await this.#more()));
    const [byte] = this.#rest;
    this.#rest = this.#rest.subarray(1);
    return byte;
  }

  /** {bytes, ended}: up to the last whole line so far; an incomplete line is left out. */
  async read() {
    const until = performance.now() + SLICE_MS;
    let ended = false;
    while (!ended && performance.now() < until) ended = await this.#more();
    const whole = this.#rest.lastIndexOf(LINE_END) + 1;
    const bytes = this.#rest.subarray(0, whole);
    this.#rest = this.#rest.slice(whole);
    return { bytes, ended };
  }

  /** Read the next piece; returns whether there was none. */
  async #more() {
    const late = setTimeout(() => this.#stop.abort(), TIMEOUT_MS);
    const { done, value } = await this.#reader.read();
    clearTimeout(late);
    if (done) return true;
    const joined = new Uint8Array(this.#rest.length + value.length);
    joined.set(this.#rest);
    joined.set(value, this.#rest.length);
    this.#rest = joined;
    return false;
  }
}

/**
 * The result of an attempt; null when it fails, or when it is too early for another one.
 * @template Value
 * @param {Retry} retry
 * @param {() => Promise<Value>} what
 * @returns {Promise<Value | null>}
 */
async function attempt(retry, what) {
  if (retry.early) return null;
  try {
    const given = await what();
    retry.succeeded();
    return given;
  } catch (error) {
    retry.failed(error);
    return null;
  }
}

/**
 * An error message for an answer other than the file; `known`: the server gave files before.
 * @param {Response} answer
 * @param {boolean} known
 */
async function refused(answer, known) {
  if (answer.status === 401 || answer.status === 403) {
    const what = known ? "the server was restarted" : "the server refuses this link";
    return new FilesError(`${what}: open the link that burstlens serve has printed`);
  }
  if (answer.status === 404) return new FilesError("the run's directory is missing");
  const reason = (await answer.text().catch(() => "")).trim().split("\n")[0];
  return new FilesError(reason.slice(0, 200) || `the server answered ${answer.status}`);
}

/**
 * @param {Record<string, string>} [headers]
 * @returns {RequestInit}
 */
function request(headers = {}) {
  return {
    cache: "no-store",
    credentials: "same-origin",
    headers,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  };
}
