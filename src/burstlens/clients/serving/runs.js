/**
 * The list of runs, polled from shelf.py.
 *
 * @typedef {object} Row
 * @property {string} run
 * @property {string} title
 * @property {string} state
 * @property {boolean} over  whether it goes on no more: a look may be quiet either way
 * @property {string | null} looks_at  the folder in which others started the model
 * @property {number} frames
 * @property {number | null} fraction
 * @property {string | null} time  valid-time key
 * @property {string} path  of its folder, relative to the list
 * @property {string | null} picture  of the newest one, relative to the list
 */

const PERIOD_MS = 2000;
const list = /** @type {HTMLElement} */ (document.getElementById("runs"));
const summary = /** @type {HTMLElement} */ (document.getElementById("summary"));
/** @type {Map<string, Card>} */
const cards = new Map();

/**
 * An element inside another one.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} tag
 * @param {string} [kind]
 * @param {Element | null} [parent]
 */
function element(tag, kind = "", parent = null) {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  parent?.append(made);
  return made;
}

class Card {
  constructor() {
    this.root = element("li");
    this.link = element("a", "", this.root);
    this.view = element("div", "view", this.link);
    const words = element("div", "words", this.link);
    this.title = element("h2", "", words);
    this.folder = element("div", "folder", words);
    const first = element("div", "row", words);
    this.state = element("span", "state", first);
    this.frames = element("span", "", first);
    this.progress = element("progress", "", words);
    const last = element("div", "row", words);
    this.id = element("span", "id", last);
    this.time = element("span", "", last);
  }

  /** @param {Row} row */
  show(row) {
    this.link.href = `${row.path}products/index.html`;
    this.link.className = row.state === "quiet" && row.over ? "over" : row.state;
    set(this.title, row.title || row.run);
    set(this.folder, row.looks_at ? `looks at ${row.looks_at}` : "");
    this.folder.hidden = !row.looks_at;
    set(this.state, row.state === "quiet" && row.over ? "quiet, ended" : row.state);
    set(this.frames, row.frames === 1 ? "1 frame" : `${row.frames} frames`);
    set(this.id, row.run);
    set(this.time, modelTime(row.time));
    this.progress.hidden = row.fraction === null || row.over;
    if (row.fraction !== null) this.progress.value = row.fraction;
    this.progress.setAttribute("aria-label", "model time");
    this.#picture(row.picture);
  }

  /** @param {string | null} place */
  #picture(place) {
    if (place === null) {
      set(this.view, "no picture yet");
      delete this.view.dataset.place;
    } else if (this.view.dataset.place !== place) {
      this.view.dataset.place = place;
      const shown = element("img");
      shown.alt = "";
      shown.src = place;
      // The previous picture stays until this one is decoded.
      shown.decode().then(
        () => this.view.replaceChildren(shown),
        () => {},
      );
    }
  }
}

/**
 * Set a text, never markup: titles and names come from recipes and folders.
 * @param {Element} node
 * @param {string} text
 */
function set(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * A valid-time key in readable form.
 * @param {string | null} key
 */
function modelTime(key) {
  if (!key) return "";
  if (/^[tu]/.test(key)) return `${Number(key.slice(1))} s`;
  const [, year, month, day, hour, minute] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)/.exec(key) ?? [];
  return year ? `${year}-${month}-${day} ${hour}:${minute} UTC` : key;
}

/** @param {Row[]} rows */
function show(rows) {
  const wanted = rows.map((row) => {
    const card = cards.get(row.run) ?? new Card();
    cards.set(row.run, card);
    card.show(row);
    return card.root;
  });
  const there = new Set(rows.map((row) => row.run));
  for (const run of cards.keys()) if (!there.has(run)) cards.delete(run);
  const same =
    wanted.length === list.children.length &&
    wanted.every((node, index) => node === list.children[index]);
  if (!same) list.replaceChildren(...wanted); // otherwise the keyboard focus stays
  const live = rows.filter((row) => !row.over).length;
  summary.className = "";
  set(
    summary,
    rows.length === 0
      ? "none yet; burstlens run or burstlens demo makes one"
      : `${rows.length} in all, ${live} in progress`,
  );
}

async function look() {
  try {
    const answer = await fetch("runs.json", { signal: AbortSignal.timeout(10_000) });
    if (!answer.ok) throw new Error(answer.statusText);
    show(await answer.json());
  } catch {
    summary.className = "away";
    set(summary, "the server cannot be reached; this list may be out of date");
  }
  setTimeout(look, document.hidden ? 10 * PERIOD_MS : PERIOD_MS);
}

look();
