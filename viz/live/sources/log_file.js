/** @import { LogPart, Source } from "../types.d.ts" */

/** Bytes that one window adds. */
const WINDOW = 1 << 17;
/** Lines that are held; more are read again when they are scrolled to. */
const HELD = 4000;
/** Bytes before the end that must be the same when a log has grown. */
const MARK = 64;
const SCAN = 1 << 20;
/** How far back a line is looked for. */
const BACK = 1 << 26;
const MOST_MATCHES = 100_000;
const LINE_END = 10;
/** Shorter lines are not taken for a part of an alarm. */
const TELLING = 16;
const utf8 = new TextDecoder();
/** One character per byte: places in its text are places in the file. */
const bytewise = new TextDecoder("windows-1252");

/** @typedef {{ at: number, text: string }} Line  A line, and its first byte's place. */

/**
 * A window on a log of any size: consecutive lines, read by ranges of bytes. A log that was
 * truncated or replaced is read anew.
 */
export class LogFile {
  size = 0;
  begin = 0;
  end = 0;
  /** @type {Line[]} */
  lines = [];
  /** What follows the last whole line. */
  rest = "";
  #source;
  #mark = "";

  /**
   * @param {Source} source
   * @param {string} name
   */
  constructor(source, name) {
    this.#source = source;
    this.name = name;
  }

  /** Whether the window reaches to the last whole line. */
  get atEnd() {
    return this.end + MARK >= this.size || this.rest !== "";
  }

  /** Whether it holds as many lines as it may. */
  get full() {
    return this.lines.length >= HELD;
  }

  /** Whether more follows the window than one reading brings. */
  get isFarBehind() {
    return this.size - this.end > WINDOW;
  }

  /** The last window. */
  async last() {
    await this.#open(-WINDOW);
  }

  /**
   * The window around a byte.
   * @param {number} at
   */
  async around(at) {
    await this.#open(Math.max(0, at - WINDOW / 2));
  }

  /** @param {number} begin */
  async #open(begin) {
    const part = await this.#read(begin, WINDOW);
    const first = part.begin === 0 || this.#endsOnly ? 0 : part.bytes.indexOf(LINE_END) + 1;
    this.begin = this.end = part.begin + first;
    this.lines = [];
    this.#mark = "";
    this.#append(part.bytes.subarray(first));
  }

  get #endsOnly() {
    return this.#source.endsOnly;
  }

  /** Read what follows the window; returns whether the log was replaced, and the window with it. */
  async later() {
    const from = this.end - this.#mark.length;
    const part = await this.#read(from, WINDOW);
    const known = this.end - part.begin;
    const mark = bytewise.decode(part.bytes.subarray(0, Math.max(0, known)));
    if (part.size < this.end || known < 0 || mark !== this.#mark) {
      await this.last();
      return true;
    }
    this.#append(part.bytes.subarray(known));
    if (this.lines.length > HELD) {
      this.lines = this.lines.slice(-HELD);
      this.begin = this.lines[0].at;
    }
    return false;
  }

  /** Read what precedes the window. */
  async earlier() {
    const from = Math.max(0, this.begin - WINDOW);
    const part = await this.#read(from, this.begin - from);
    const first = part.begin === 0 || this.#endsOnly ? 0 : part.bytes.indexOf(LINE_END) + 1;
    const lines = linesOf(part.bytes.subarray(first), part.begin + first);
    if (!lines.length) return;
    this.begin = part.begin + first;
    this.lines = [...lines, ...this.lines];
    if (this.lines.length <= HELD) return;
    this.end = this.lines[HELD].at;
    this.rest = "";
    this.#mark = "";
    this.lines = this.lines.slice(0, HELD);
  }

  /** @param {Uint8Array} bytes */
  #append(bytes) {
    let whole = bytes.lastIndexOf(LINE_END) + 1;
    if (!whole && bytes.length >= WINDOW / 2) whole = bytes.length; // one line without an end
    this.lines = this.lines.concat(linesOf(bytes.subarray(0, whole), this.end));
    this.end += whole;
    this.rest =
      this.end + bytes.length - whole >= this.size ? utf8.decode(bytes.subarray(whole)) : "";
    this.#mark = (this.#mark + bytewise.decode(bytes.subarray(0, whole))).slice(-MARK);
  }

  /**
   * @param {number} begin
   * @param {number} length
   * @returns {Promise<LogPart>}
   */
  async #read(begin, length) {
    const part = await this.#source.log(this.name, begin, length);
    this.size = part.size;
    return part;
  }

  /**
   * The places of lines that hold a text, in any case, from a byte on: in pieces as they are found,
   * each with the byte up to which was searched.
   * @param {string} text
   * @param {number} from
   * @returns {AsyncGenerator<{ found: number[], upTo: number }>}
   */
  async *search(text, from) {
    const wanted = bytewise.decode(new TextEncoder().encode(text)).toLowerCase();
    let count = 0;
    for (let at = from; ; ) {
      const part = await this.#read(at, SCAN);
      const hay = bytewise.decode(part.bytes).toLowerCase();
      const last = part.begin + hay.length >= part.size;
      const whole = last ? hay.length : hay.lastIndexOf("\n") + 1 || hay.length;
      const found = [];
      for (let i = hay.indexOf(wanted); i >= 0 && i < whole && count < MOST_MATCHES; ) {
        found.push(part.begin + hay.lastIndexOf("\n", i) + 1);
        count += 1;
        const next = hay.indexOf("\n", i);
        i = next < 0 ? -1 : hay.indexOf(wanted, next);
      }
      at = part.begin + (last ? hay.lastIndexOf("\n") + 1 : whole);
      yield { found, upTo: at };
      if (last || !hay.length || count >= MOST_MATCHES) return;
    }
  }

  /**
   * The place of the last line that a message quotes, or that quotes it; null if none is found.
   * @param {string} message
   */
  async quoted(message) {
    const wanted = plain(message);
    if (!wanted) return null;
    let { size: end } = await this.#read(-1, 1);
    for (const stop = end - BACK; end > Math.max(0, stop); ) {
      const from = Math.max(0, end - SCAN);
      const part = await this.#read(from, end - from);
      const cut = part.begin > 0 && !this.#endsOnly ? part.bytes.indexOf(LINE_END) + 1 : 0;
      const lines = linesOf(part.bytes.subarray(cut), part.begin + cut);
      const line = lines.findLast(({ text }) => {
        const said = plain(text);
        return said.includes(wanted) || (said.length >= TELLING && wanted.includes(said));
      });
      if (line) return line.at;
      if (from === 0 || part.begin > from || cut === part.bytes.length) return null;
      end = part.begin + cut;
    }
    return null;
  }
}

/** @param {string} text */
function plain(text) {
  return text.replace(/\s+/g, " ").trim().toLowerCase();
}

/**
 * @param {Uint8Array} bytes
 * @param {number} at
 * @returns {Line[]}
 */
function linesOf(bytes, at) {
  const lines = [];
  for (let from = 0; from < bytes.length; ) {
    const next = bytes.indexOf(LINE_END, from);
    const to = next < 0 ? bytes.length : next;
    lines.push({ at: at + from, text: utf8.decode(bytes.subarray(from, to)).replace(/\r$/, "") });
    from = to + 1;
  }
  return lines;
}
