import { Retries } from "../sources/retries.js";
import { seriesId } from "../time/album.js";

/** @import { Changed, IndexLine, Source } from "../types.d.ts" */

const HELD_BYTES = 256 * 2 ** 20;
/** As many connections as browsers open to one server. */
const AT_ONCE = 6;
const AGAIN_MS = 2000;

/**
 * Decoded pictures of one source. A bounded number is held, and only pictures that are needed now
 * are loaded: one that was passed while scrubbing is never requested.
 */
export class Pictures {
  #source;
  #changed;
  #most;
  /** @type {Map<string, ImageBitmap>} */
  #held = new Map();
  #bytes = 0;
  /** @type {IndexLine[]} */
  #wanted = [];
  /** @type {Set<string>} */
  #loading = new Set();
  #missing = new Retries(AGAIN_MS);
  /** @type {IndexLine[]} */
  #urgent = [];
  /** @type {Map<string, IndexLine>} */
  #latest = new Map();
  #closed = false;

  /**
   * @param {Source} source
   * @param {Changed} changed
   * @param {number} [bytes]
   */
  constructor(source, changed, bytes = HELD_BYTES) {
    this.#source = source;
    this.#changed = changed;
    this.#most = bytes;
  }

  /**
   * The decoded picture of an index line, or null until it is loaded.
   * @param {IndexLine} line
   */
  get(line) {
    const key = keyOf(line);
    const bitmap = this.#held.get(key) ?? null;
    if (bitmap) {
      this.#held.delete(key); // and added again as the most recently used
      this.#held.set(key, bitmap);
    }
    return bitmap;
  }

  /**
   * Whether the picture could not be loaded; loading is retried while it is needed.
   * @param {IndexLine} line
   */
  isMissing(line) {
    return this.#missing.has(keyOf(line));
  }

  /**
   * Set which pictures are needed now; `next` are loaded only when none of these is missing.
   * @param {IndexLine[]} lines
   * @param {IndexLine[]} next
   */
  want(lines, next) {
    const lacking = lines.filter((line) => !this.#held.has(keyOf(line)));
    this.#urgent = lacking;
    this.#wanted = lacking.length ? lacking : next;
    this.#load();
  }

  /**
   * The most recently loaded picture of a series, among those that were shown or needed when they
   * were requested: while a user scrubs faster than pictures load, it is the nearest one.
   * @param {string} id
   */
  latest(id) {
    const line = this.#latest.get(id);
    return line && this.#held.has(keyOf(line)) ? line : undefined;
  }

  #load() {
    for (const line of this.#wanted) {
      if (this.#closed || this.#loading.size >= AT_ONCE) return;
      const key = keyOf(line);
      if (this.#held.has(key) || this.#loading.has(key) || !this.#missing.isDue(key)) continue;
      this.#fetch(key, line);
    }
  }

  /**
   * @param {string} key
   * @param {IndexLine} line
   */
  async #fetch(key, line) {
    this.#loading.add(key);
    const urgent = this.#urgent.includes(line);
    try {
      const url = await this.#source.image(line);
      this.#hold(key, await decoded(this.#missing.has(key) ? `${url}${retryMark(url)}` : url));
      this.#missing.delete(key);
      if (urgent) this.#latest.set(seriesId(line), line);
    } catch {
      setTimeout(() => this.#load(), this.#missing.add(key) + 50);
    }
    this.#loading.delete(key);
    if (this.#closed) return;
    this.#changed();
    this.#load();
  }

  /**
   * @param {string} key
   * @param {ImageBitmap} bitmap
   */
  #hold(key, bitmap) {
    this.#held.set(key, bitmap);
    this.#bytes += sizeOf(bitmap);
    for (const [old, other] of this.#held) {
      if (this.#bytes <= this.#most || old === key) break;
      this.#drop(old, other);
    }
  }

  /**
   * @param {string} key
   * @param {ImageBitmap} bitmap
   */
  #drop(key, bitmap) {
    this.#held.delete(key);
    this.#bytes -= sizeOf(bitmap);
    bitmap.close();
  }

  close() {
    this.#closed = true;
    for (const [key, bitmap] of this.#held) this.#drop(key, bitmap);
  }
}

/**
 * The picture at a URL. It is fetched and decoded outside of the page's main thread where that is
 * possible: files and a notebook's URLs cannot be fetched everywhere, and SVG is not decoded.
 * @param {string} url
 */
async function decoded(url) {
  const here = new URL(url, document.baseURI);
  if (here.protocol.startsWith("http") && !here.pathname.endsWith(".svg")) {
    const answer = await fetch(url, { credentials: "same-origin" });
    if (!answer.ok) throw new Error(answer.statusText);
    return createImageBitmap(await answer.blob());
  }
  const image = new Image();
  image.src = url;
  await image.decode();
  return createImageBitmap(image);
}

/** @param {IndexLine} line */
function keyOf(line) {
  return `${line.name}?${line.crc32}`;
}

/** @param {ImageBitmap} bitmap */
function sizeOf(bitmap) {
  return bitmap.width * bitmap.height * 4;
}

/**
 * A browser remembers an address that failed.
 * @param {string} url
 */
function retryMark(url) {
  return /^(blob|data):/.test(url) ? "" : `&again=${Date.now()}`;
}
