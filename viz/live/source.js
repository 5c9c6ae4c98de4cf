/*
A source gives a run to the view; the view knows nothing else of where it comes from.

    poll()      Promise of {status, heard, lines, fresh, live, gap, why}; called about twice a
                second, never again before the last one has been answered. It does not reject.
                  status  the object of status.json, or null as long as there is none
                  heard   whether the status was read in this poll, and is not an earlier one
                  lines   lines of products/index.jsonl (objects) that came since the last poll
                  fresh   true when `lines` begin anew: forget all earlier ones
                  live    whether new data can arrive; false while the files cannot be reached
                  gap     "" when all can be read; "server" when whoever gives the files does not
                          answer, so that nothing is known of the run; "files" when it answers
                          and cannot read the run's files
                  why     a sentence for people when not all of it can be reached, else ""
    image(line) Promise of a URL (string) of the picture that the index line names. A line that
                replaces another one under the same name gives another URL.
    link(name)  URL of a file by its name relative to products/, or null when none can be given.
    ask         null when nothing can be asked of the run from here (then the view shows the
                command to type), else async function (what), what being one of "stop",
                "stop-now", "pause", "resume-watching"; rejects with an Error for people. May
                change from one poll to the next.
    others()    Promise of [{run, title, state, frames}, ...], the runs to compare with, or of null.
    open(run)   another source, for an entry of others().
    close()     no poll comes any more: give back what is held.

HttpSource (http_source.js) reads from a web server, FileSource (file_source.js) from script files
beside the page, which also works under file://, WidgetSource (widget.js) from a Jupyter kernel.
*/

/** A name relative to products/ as a relative URL; null when it would lead out of there. */
export function relativeUrl(base, name) {
  const parts = String(name).split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..")) return null;
  return base + parts.map(encodeURIComponent).join("/");
}

/** The URL of a picture: with its checksum, so that what replaces it is not taken from a cache. */
export function pictureUrl(base, line) {
  const url = relativeUrl(base, line.name);
  if (url === null) throw new Error(`${line.name} is no name of a product`);
  return `${url}?${encodeURIComponent(line.crc32)}`;
}

/** The index lines in a text of whole lines; foreign ones are passed over. */
export function parseLines(text) {
  const lines = [];
  for (const part of text.split("\n")) {
    if (part === "") continue;
    try {
      const value = JSON.parse(part);
      if (isLine(value)) lines.push(value);
    } catch {
      // not JSON: not ours
    }
  }
  return lines;
}

/** Whether a value is a line of the index as far as the view relies on it. */
export function isLine(value) {
  const strings = ["product", "stream", "time", "name"];
  return (
    value !== null &&
    typeof value === "object" &&
    strings.every((key) => typeof value[key] === "string")
  );
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;

/** Who gives the run's files has answered, and cannot read them; the message is for people. */
export class FilesError extends Error {}

/** When to try again what has failed: after a pause that doubles. */
export class Retry {
  #since = null;
  #pause = 0;
  #next = 0;
  #reason = "";
  #subject;

  /** What cannot be reached, as poll() gives it. */
  gap = "";

  constructor(subject = "The run's files") {
    this.#subject = subject;
  }

  /** Whether it is still too early to try. */
  get early() {
    return performance.now() < this.#next;
  }

  /** It worked. */
  succeeded() {
    this.#since = null;
    this.#pause = 0;
    this.#next = 0;
    this.gap = "";
  }

  /** It did not; `error` is a FilesError when somebody has answered. */
  failed(error) {
    const gap = error instanceof FilesError ? "files" : "server";
    if (gap !== this.gap) this.#since = null;
    this.gap = gap;
    this.#reason = gap === "files" ? error.message : "";
    this.#since ??= new Date();
    this.#pause = Math.min(LONGEST_PAUSE_MS, this.#pause * 2 || FIRST_PAUSE_MS);
    this.#next = performance.now() + this.#pause;
  }

  /** What to tell people. */
  get why() {
    if (this.#since === null) return "";
    const since = this.#since.toLocaleTimeString("en-GB");
    return this.gap === "server"
      ? `Not reachable since ${since}: the server does not answer, the run may go on.`
      : `${this.#subject} cannot be read since ${since}: ${this.#reason}. The run may go on.`;
  }
}
