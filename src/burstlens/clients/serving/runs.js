import { Card, set, Thumbnails } from "./runs_card.js";

/** @import { Row } from "./runs_card.js" */

/** The list of runs, polled from shelf.py. */

const PERIOD_MS = 2000;
const MOST_CHOSEN = 6;
const BAD = new Set(["failed", "lost"]);
/** In the order in which they are sorted. */
const STATES = ["failed", "lost", "stopping", "running"];

/** @param {string} id */
const found = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const list = found("runs");
const summary = found("summary");
const search = /** @type {HTMLInputElement} */ (found("search"));
const which = /** @type {HTMLSelectElement} */ (found("which"));
const sort = /** @type {HTMLSelectElement} */ (found("sort"));
const beside = /** @type {HTMLAnchorElement} */ (found("beside"));
/** @type {Map<string, Card>} */
const cards = new Map();
/** @type {Set<string>} */
const chosen = new Set();
/** @type {Row[]} */
let rows = [];
let heard = false;
const thumbnails = new Thumbnails();

/** @type {Record<string, (row: Row) => boolean>} */
const FILTERS = {
  live: (row) => !row.over,
  bad: (row) => BAD.has(row.state),
  alarms: (row) => row.alarms > 0,
};
/** @type {Record<string, (a: Row, b: Row) => number>} */
const ORDERS = {
  title: (a, b) => nameOf(a).localeCompare(nameOf(b), undefined, { numeric: true }),
  state: (a, b) => stateRank(a) - stateRank(b),
  fraction: (a, b) => (b.fraction ?? -1) - (a.fraction ?? -1),
  eta: (a, b) => etaOf(a) - etaOf(b),
  alarms: (a, b) => b.alarms - a.alarms,
};

/** @param {Row} row */
function nameOf(row) {
  return row.title || row.run;
}

/** @param {Row} row */
function stateRank(row) {
  const place = STATES.indexOf(row.state);
  return place >= 0 ? place : STATES.length + Number(row.over);
}

/** @param {Row} row */
function etaOf(row) {
  return row.over ? Number.MAX_VALUE : (row.eta_s ?? Number.MAX_VALUE / 2);
}

/** @param {Element | null | undefined} node */
function cardOf(node) {
  const root = /** @type {HTMLElement | null | undefined} */ (node?.closest("li"));
  return root ? cards.get(root.dataset.run ?? "") : undefined;
}

/** Show the rows that fit the search, in the chosen order. */
function show() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const keeps = FILTERS[which.value] ?? (() => true);
  const fit = rows.filter((row) => {
    const text = `${row.title} ${row.run} ${row.state} ${row.looks_at ?? ""}`.toLowerCase();
    return keeps(row) && words.every((word) => text.includes(word));
  });
  if (ORDERS[sort.value]) fit.sort(ORDERS[sort.value]);
  for (const row of fit) {
    let card = cards.get(row.run);
    if (!card) {
      card = new Card(row.run, choose);
      cards.set(row.run, card);
      card.pick.checked = chosen.has(row.run);
      thumbnails.add(card);
    }
    card.show(row);
  }
  place(fit.map((row) => /** @type {Card} */ (cards.get(row.run)).root));
  const live = rows.filter((row) => !row.over).length;
  const shown = fit.length < rows.length ? `${fit.length} of ` : "";
  if (heard) {
    set(
      summary,
      rows.length
        ? `${shown}${rows.length} in all, ${live} in progress`
        : "none yet; burstlens run or burstlens demo makes one",
    );
    document.title = live ? `▶ ${live} · Runs · Burstlens` : "Runs · Burstlens";
  }
  thumbnails.load();
}

/**
 * Put the cards into this order; one that stays in its place keeps the keyboard's focus.
 * @param {HTMLElement[]} wanted
 */
function place(wanted) {
  const there = new Set(wanted);
  for (const node of [...list.children])
    if (!there.has(/** @type {HTMLElement} */ (node))) node.remove();
  const focused = document.activeElement;
  let next = list.firstElementChild;
  for (const node of wanted) {
    if (node === next) next = next.nextElementSibling;
    else list.insertBefore(node, next);
  }
  if (focused instanceof HTMLElement && list.contains(focused))
    focused.focus({ preventScroll: true });
}

/**
 * @param {string} run
 * @param {boolean} yes
 */
function choose(run, yes) {
  if (yes && chosen.size < MOST_CHOSEN) chosen.add(run);
  else chosen.delete(run);
  showChosen();
}

function showChosen() {
  const [first, ...others] = chosen;
  for (const [run, card] of cards) card.pick.checked = chosen.has(run);
  found("chosen").hidden = !first;
  const few =
    chosen.size < 2 ? "; choose another" : chosen.size === MOST_CHOSEN ? ", the most" : "";
  set(found("count"), `${chosen.size} chosen${few}`);
  const path = rows.find((row) => row.run === first)?.path;
  const names = others.map((run) => encodeURIComponent(run.replace(/[%,@]/g, encodeURIComponent)));
  if (path && others.length) beside.href = `${path}products/index.html#beside=${names.join(",")}`;
  else beside.removeAttribute("href");
  remember();
}

const CHOICES = { q: search, which, sort };

/** The search, the order and what is chosen lie in the fragment of the URL. */
function remember() {
  const kept = new URLSearchParams();
  for (const [name, { value }] of Object.entries(CHOICES)) if (value) kept.set(name, value);
  for (const run of chosen) kept.append("chosen", run);
  const text = kept.toString();
  if (text === location.hash.slice(1)) return;
  history.replaceState(null, "", `${location.pathname}${location.search}${text && `#${text}`}`);
}

function recall() {
  const kept = new URLSearchParams(location.hash.slice(1));
  for (const [name, control] of Object.entries(CHOICES)) {
    control.value = kept.get(name) ?? "";
    if (control.value === "" && control instanceof HTMLSelectElement) control.selectedIndex = 0;
  }
  chosen.clear();
  for (const run of kept.getAll("chosen").slice(0, MOST_CHOSEN)) chosen.add(run);
}

/**
 * Move the focus to a card above, below or beside.
 * @param {string} key
 */
function move(key) {
  const links = /** @type {HTMLElement[]} */ ([...list.querySelectorAll("li > a")]);
  const here = links.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const columns = getComputedStyle(list).gridTemplateColumns.split(" ").length;
  const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[key] ?? 0;
  const next = here < 0 ? 0 : Math.min(links.length - 1, Math.max(0, here + by));
  links[next]?.focus();
}

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (key === "Escape" && target === search) {
    search.value = "";
    search.dispatchEvent(new Event("input"));
  }
  const typed = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
  if (typed && target !== search) return;
  const card = cardOf(document.activeElement);
  if (key === "ArrowDown" && target === search) move(key);
  else if (typed) return;
  else if (key === "/") search.focus();
  else if (key.startsWith("Arrow")) move(key);
  else if (key.toLowerCase() === "x" && card) card.pick.click();
  else return;
  event.preventDefault();
});

for (const control of [search, which, sort]) {
  control.addEventListener("input", () => {
    remember();
    requestAnimationFrame(show);
  });
}
found("choice").addEventListener("submit", (event) => event.preventDefault());
found("none").addEventListener("click", () => {
  chosen.clear();
  showChosen();
});
window.addEventListener("popstate", () => {
  recall();
  show();
  showChosen();
});

async function look() {
  try {
    // The server answers in a few bytes while nothing has changed.
    const how = { cache: /** @type {const} */ ("no-cache"), signal: AbortSignal.timeout(10_000) };
    const answer = await fetch("runs.json", how);
    if (!answer.ok) throw new Error(answer.statusText);
    rows = await answer.json();
    heard = true;
    summary.className = "";
    const there = new Set(rows.map((row) => row.run));
    for (const run of cards.keys()) if (!there.has(run)) cards.delete(run);
    show();
    if (chosen.size) showChosen();
  } catch {
    summary.className = "away";
    set(summary, "the server cannot be reached; this list may be out of date");
  }
  setTimeout(look, document.hidden ? 10 * PERIOD_MS : PERIOD_MS);
}

try {
  // The choice of the runs' pages.
  document.documentElement.style.colorScheme = localStorage.getItem("burstlens-theme") ?? "";
} catch {
  // storage may be forbidden: the system's choice
}
recall();
look();
