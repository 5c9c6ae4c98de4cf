import { isPainted } from "../drawing/looks.js";
import { element, say, set } from "../elements/element.js";
import { viewsIn, viewsOut } from "../sharing/views.js";
import { seriesId } from "../time/album.js";
import { Pane } from "./pane.js";

/** @import { Album } from "../time/album.js" */
/** @import { Comparison } from "./comparison.js" */
/** @import { Guests } from "./guests.js" */
/** @import { Lens } from "./lens.js" */
/** @import { Changed, IndexLine, Tools, ViewState } from "../types.d.ts" */
/** @import { View } from "../sharing/views.js" */

const AHEAD = 8;
const AHEAD_VALUES = 4;

/** The panes side by side, and which pictures they need next. */
export class Wall {
  #lens;
  #changed;
  /** @type {Pane[]} */
  #panes = [];
  #touched = false;
  #tools;
  /** Views of a link, until all their series are known. @type {View[]} */
  #wanted = [];
  #known = 0;
  /** Panes of other runs, by run, beside each pane. @type {Map<Pane, Map<string, Pane>>} */
  #beside = new Map();
  #guests;

  /**
   * @param {Lens} lens
   * @param {Tools} tools
   * @param {Guests} guests
   * @param {Changed} changed
   */
  constructor(lens, tools, guests, changed) {
    this.#lens = lens;
    this.#tools = tools;
    this.#guests = guests;
    this.#changed = changed;
    this.element = element("div", { className: "wall" });
    new ResizeObserver(() => changed()).observe(this.element);
    this.#add();
  }

  /** The views of the page's own run that show a picture. */
  get seen() {
    return this.#panes.filter(({ shown }) => shown.line);
  }

  /**
   * Series that are shown, each once.
   * @param {Album} album
   */
  shown(album) {
    const ids = new Set(this.#panes.map((pane) => pane.seriesId ?? ""));
    return [...ids].map((id) => album.series.get(id)).filter((series) => series !== undefined);
  }

  /**
   * Show one more product: the first that is not shown yet.
   * @param {Album} album
   */
  more(album) {
    this.#touch();
    this.#add(this.#next(album)?.id);
  }

  /**
   * Whether every product that is a picture is shown.
   * @param {Album} album
   */
  isWhole(album) {
    return this.#next(album) === undefined;
  }

  /** @param {Album} album */
  #next(album) {
    const shown = this.shown(album);
    return album.pictures.find((series) => !shown.includes(series));
  }

  /** @param {string | null} [seriesId] */
  #add(seriesId = null) {
    const pane = new Pane(this.#lens, this.#tools, this.#changed, (gone) => {
      this.#touch();
      this.#remove(gone);
    });
    pane.seriesId = seriesId;
    pane.element.addEventListener("change", () => this.#touch());
    this.#panes.push(pane);
    this.element.append(pane.element);
    this.#changed();
  }

  /** The user has chosen what is shown. */
  #touch() {
    this.#touched = true;
    this.#wanted = [];
  }

  /** @param {Pane} pane */
  #remove(pane) {
    this.#panes = this.#panes.filter((one) => one !== pane);
    for (const guest of this.#beside.get(pane)?.values() ?? []) guest.close();
    this.#beside.delete(pane);
    pane.close();
    this.#changed();
  }

  /**
   * The views of a link; those whose series does not exist are left out.
   * @param {string} text
   */
  read(text) {
    if (text === this.write()) return;
    this.#wanted = viewsIn(text);
    this.#known = 0;
    this.#touched = false;
    for (const pane of this.#panes.slice(1)) this.#remove(pane);
    Object.assign(this.#panes[0], { seriesId: null, held: null });
  }

  /** The text of read(): empty while it is what everyone sees at first. */
  write() {
    const shown = this.#panes.map(({ seriesId, held }) => ({ id: seriesId ?? "", held }));
    if (this.#wanted.length) return viewsOut(this.#wanted);
    return this.#touched || shown.some(({ held }) => held !== null) ? viewsOut(shown) : "";
  }

  /** @param {Album} album */
  #open(album) {
    const known = this.#wanted.filter(({ id }) => album.series.get(id)?.isPicture);
    if (!this.#wanted.length || known.length === this.#known) return;
    this.#known = known.length;
    this.#touched = true;
    for (const pane of this.#panes.slice(known.length)) this.#remove(pane);
    while (this.#panes.length < known.length) this.#add();
    for (const [i, { id, held }] of known.entries()) {
      Object.assign(this.#panes[i], { seriesId: id, held });
    }
    if (known.length === this.#wanted.length) this.#wanted = [];
  }

  /**
   * Show as many products as there is room for, until the user chooses others.
   * @param {Album} album
   */
  fit(album) {
    this.#open(album);
    const series = album.pictures;
    const guests = this.#guests.runs;
    const width = this.element.clientWidth;
    const room = guests.length ? 1 : width >= 2200 ? 4 : width >= 900 ? 2 : 1;
    while (!this.#touched && this.#panes.length < Math.min(room, series.length)) {
      this.#panes[0].seriesId ??= series[0].id;
      this.#add(this.#next(album)?.id);
    }
    for (const pane of this.#panes) {
      pane.offer(series, this.#panes.length === 1);
      this.#seat(pane, guests);
    }
    const { clientWidth, clientHeight, childElementCount: count } = this.element;
    // One row for each product, where its runs have room beside each other.
    const row = guests.length && this.#panes.length > 1 && clientWidth / (guests.length + 1) > 280;
    set(this.element, {
      "data-columns": row ? guests.length + 1 : columns(count, clientWidth, clientHeight),
    });
  }

  /**
   * A pane for each other run beside one of the page's run.
   * @param {Pane} pane
   * @param {Comparison[]} guests
   */
  #seat(pane, guests) {
    const seats = this.#beside.get(pane) ?? new Map();
    this.#beside.set(pane, seats);
    const runs = guests.map(({ run }) => run);
    for (const [run, gone] of seats) {
      if (runs.includes(run)) continue;
      seats.delete(run);
      gone.close();
    }
    let last = pane.element;
    for (const { run, album } of guests) {
      const seat =
        seats.get(run) ??
        new Pane(this.#lens, this.#tools, this.#changed, () => this.#guests.remove(run));
      seats.set(run, seat);
      seat.element.classList.add("guest");
      if (last.nextSibling !== seat.element) last.after(seat.element);
      last = seat.element;
      seat.seriesId = pane.seriesId;
      seat.held = pane.held;
      seat.offer(
        album.pictures.filter(({ id }) => id === pane.seriesId),
        false,
      );
    }
  }

  /**
   * Draw all panes and load their pictures: those shown, then those likely to be shown next.
   * @param {ViewState} state
   */
  show(state) {
    const { album, player, pictures, comparison } = state;
    const drawn = this.#panes.map((pane) => pane.show(state));
    for (const pane of this.#panes) name(pane, this.#guests.runs.length ? state.run : "", "");
    const mine = drawn.map(({ line }) => line).filter((line) => line !== undefined);
    const theirs = drawn.map(({ other }) => other).filter((line) => line !== undefined);
    const { times, index, direction } = player;
    /** @type {IndexLine[]} */
    const next = [];
    for (let step = 1; step <= AHEAD; step += 1) {
      const time = times[index + step * direction];
      if (time === undefined) break;
      for (const series of this.shown(album)) {
        const line = series.exactly(time);
        if (line) next.push(line);
      }
    }
    pictures.want(mine, next);
    const { looks, profile } = this.#tools;
    const asked = this.#asks;
    const seen = drawn.map((one) => one.seen).filter((line) => line !== undefined);
    const needs = [...drawn.flatMap((one) => one.needs), ...(asked ? seen : [])];
    const later = next.filter((line) => asked || isPainted(looks.of(seriesId(line))));
    state.fields.want([...new Set(needs), ...later.slice(0, AHEAD_VALUES)]);
    profile.show(
      this.#panes.map(({ seriesId, held }, at) => {
        const line = drawn[at].seen;
        const fields = line ? state.fields.get(line) : null;
        const isMissing = !line?.values || state.fields.isMissing(line);
        return { name: `${seriesId} ${held ?? ""}`, line, fields, held, isMissing };
      }),
    );
    const read = asked || needs.length ? theirs : [];
    comparison?.fields.want([...new Set([...read, ...drawn.flatMap((one) => one.theirs)])]);
    comparison?.pictures.want(theirs, counterparts(next, comparison.album));
    const all = this.#guests.runs.map((guest) => this.#showGuest(guest, state, next));
    // Each pane has read its pointer by now, so that all show the same cursor.
    for (const pane of this.#panes) {
      pane.mark();
      for (const seat of this.#beside.get(pane)?.values() ?? []) seat.mark();
    }
    return (
      all.every(Boolean) &&
      mine.every((line) => pictures.get(line) || pictures.isMissing(line)) &&
      needs.every((line) => state.fields.get(line) || state.fields.isMissing(line) || !line.values)
    );
  }

  close() {
    for (const pane of this.#panes) this.#remove(pane);
  }

  /** Whether the values of all pictures that are seen are needed. */
  get #asks() {
    const { cursor, pins, profile } = this.#tools;
    return cursor.asks || pins.list.length > 0 || profile.ends !== null;
  }

  /**
   * Draw another run's panes; returns whether none of their pictures is still to be loaded.
   * @param {Comparison} guest
   * @param {ViewState} state
   * @param {IndexLine[]} next
   */
  #showGuest({ run, album, pictures, fields, source, status, why }, state, next) {
    const theirs = { ...state, album, pictures, fields, source, run, comparison: null };
    const lines = [];
    const needs = [];
    for (const seats of this.#beside.values()) {
      const seat = seats.get(run);
      if (!seat) continue;
      const { line, seen, needs: own } = seat.show(theirs);
      needs.push(...own, ...(seen && this.#asks ? [seen] : []));
      name(seat, run, status?.state ?? (why ? "cannot be read" : ""));
      if (line) lines.push(line);
    }
    pictures.want(lines, counterparts(next, album));
    fields.want(needs);
    return lines.every((line) => pictures.get(line) || pictures.isMissing(line));
  }
}

/**
 * Say above a pane whose run it shows; "" takes the name away.
 * @param {Pane} pane
 * @param {string} run
 * @param {string} state
 */
function name({ element: box }, run, state) {
  const shown = box.querySelector(".whose");
  const text = state ? `${run} · ${state}` : run;
  if (!run) shown?.remove();
  else if (shown) say(shown, text);
  else box.prepend(element("h2", { className: "whose" }, text));
}

/**
 * The same frames in another run.
 * @param {IndexLine[]} lines
 * @param {Album} album
 */
function counterparts(lines, album) {
  return lines
    .map((line) => album.series.get(seriesId(line))?.exactly(line.time))
    .filter((line) => line !== undefined);
}

/**
 * How many columns make pictures of about 5 to 4 largest.
 * @param {number} count
 * @param {number} width
 * @param {number} height
 */
function columns(count, width, height) {
  let best = 1;
  let most = 0;
  for (let n = 1; n <= count; n += 1) {
    const room = Math.min(width / n, (height / Math.ceil(count / n)) * 1.25);
    if (room > most + 1) [best, most] = [n, room];
  }
  return best;
}
