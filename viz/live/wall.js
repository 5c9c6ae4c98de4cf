import { seriesId } from "./album.js";
import { element, set } from "./element.js";
import { Pane } from "./pane.js";

/** @import { Album } from "./album.js" */
/** @import { Lens } from "./lens.js" */
/** @import { Changed, IndexLine, Tools, ViewState } from "./types.d.ts" */

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

  /**
   * @param {Lens} lens
   * @param {Tools} tools
   * @param {Changed} changed
   */
  constructor(lens, tools, changed) {
    this.#lens = lens;
    this.#tools = tools;
    this.#changed = changed;
    this.element = element("div", { className: "wall" });
    new ResizeObserver(() => changed()).observe(this.element);
    this.#add();
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
    this.#touched = true;
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
    const pane = new Pane(this.#lens, this.#tools, this.#changed, (gone) => this.#remove(gone));
    pane.seriesId = seriesId;
    this.#panes.push(pane);
    this.element.append(pane.element);
    this.#changed();
  }

  /** @param {Pane} pane */
  #remove(pane) {
    this.#touched = true;
    this.#panes = this.#panes.filter((one) => one !== pane);
    pane.element.remove();
    this.#changed();
  }

  /**
   * Show as many products as there is room for, until the user chooses others.
   * @param {Album} album
   */
  fit(album) {
    const series = album.pictures;
    const width = this.element.clientWidth;
    const room = width >= 2200 ? 4 : width >= 900 ? 2 : 1;
    while (!this.#touched && this.#panes.length < Math.min(room, series.length)) {
      this.#panes[0].seriesId ??= series[0].id;
      this.#add(this.#next(album)?.id);
    }
    for (const pane of this.#panes) pane.offer(series, this.#panes.length === 1);
    const { clientWidth, clientHeight } = this.element;
    set(this.element, { "data-columns": columns(this.#panes.length, clientWidth, clientHeight) });
  }

  /**
   * Draw all panes and load their pictures: those shown, then those likely to be shown next.
   * @param {ViewState} state
   */
  show(state) {
    const { album, player, pictures, comparison } = state;
    const drawn = this.#panes.map((pane) => pane.show(state));
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
    const { cursor, looks, pins, profile } = this.#tools;
    const asked = cursor.asks || pins.list.length > 0 || profile.ends !== null;
    const seen = drawn.map((one) => one.seen).filter((line) => line !== undefined);
    const needs = [...drawn.flatMap((one) => one.needs), ...(asked ? seen : [])];
    const painted = next.filter((line) => looks.paints(seriesId(line)));
    state.fields.want([...new Set(needs), ...painted.slice(0, AHEAD_VALUES)]);
    profile.show(
      seen.flatMap((line) => {
        const fields = state.fields.get(line);
        return fields && !fields.grids[0].facts.along ? [{ line, fields }] : [];
      }),
    );
    if (asked || needs.length) comparison?.fields.want(theirs);
    comparison?.pictures.want(
      theirs,
      next
        .map((line) => comparison.album.series.get(seriesId(line))?.exactly(line.time))
        .filter((line) => line !== undefined),
    );
    return (
      mine.every((line) => pictures.get(line) || pictures.isMissing(line)) &&
      needs.every((line) => state.fields.get(line) || state.fields.isMissing(line) || !line.values)
    );
  }
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
