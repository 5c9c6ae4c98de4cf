import { seriesId } from "../time/album.js";
import { isPainted, limitsIn } from "./looks.js";

/** @import { Album } from "../time/album.js" */
/** @import { FieldStore } from "../values/field_store.js" */
/** @import { Look, Looks, Paintable, Painted } from "./looks.js" */
/** @import { Pictures } from "../wall/pictures.js" */
/** @import { IndexLine } from "../types.d.ts" */

/** One picture in the look that a reader has chosen for its series. */
export class Painting {
  /** @type {Painted | null} */
  #painted = null;
  /** @type {IndexLine | null} whose picture was painted last */
  #line = null;
  /** @type {IndexLine | null} that was prepared last */
  #seen = null;
  #of = "";
  /** @type {FieldStore | null} of the run that is painted */
  #run = null;
  /** @type {IndexLine[]} lines of the same run whose values it needs */
  needs = [];
  /** Whether something is to be taken away that this picture cannot have. */
  lacks = false;
  /** Whether values that it needs are still to be loaded. */
  waits = false;

  /** The line whose picture was painted last, as far as it is that of the series and the run. */
  get line() {
    return this.#painted && this.#line;
  }

  /**
   * What is needed to paint the picture in that look, or null: it is to be shown as it was drawn, or
   * values are not loaded yet.
   * @param {{ album: Album, fields: FieldStore, pictures: Pictures }} run
   * @param {IndexLine} seen
   * @param {{ line: IndexLine | undefined, fields: FieldStore } | null} other of the other run
   * @param {Look} look
   * @returns {Paintable | null}
   */
  prepare({ album, fields, pictures }, seen, other, look) {
    const id = seriesId(seen);
    const name = `${id} ${look.minus}`;
    if (this.#of !== name || this.#run !== fields) this.#painted = null;
    [this.#of, this.#run] = [name, fields];
    this.#seen = seen;
    this.needs = [];
    this.lacks = this.waits = false;
    const series = album.series.get(id);
    if (!series || !seen.values || !isPainted(look)) return this.#leave();
    const { minus } = look;
    const at = series.times.indexOf(seen.time);
    const times = { first: series.times[0], before: series.times[at - 1] ?? "" };
    const base = minus === "run" ? other : minus && { line: series.exactly(times[minus]), fields };
    const from = base ? base.line : undefined;
    this.needs = from && minus !== "run" ? [seen, from] : [seen];
    this.lacks = minus !== "" && (!base || !from?.values || base.fields.isMissing(from));
    const isMissing = fields.isMissing(seen) || pictures.isMissing(seen);
    if (this.lacks || isMissing) return this.#leave();
    const [picture, mine] = [pictures.get(seen), fields.whole(seen)];
    const away = base && from ? base.fields.get(from) : null;
    const units = [mine, away].map((one) => one?.header.fields[0].units);
    this.lacks = Boolean(mine && away) && units[0] !== units[1];
    if (this.lacks) return this.#leave();
    this.waits = !picture || !mine || (minus !== "" && !away);
    return picture && mine && !this.waits ? { look, picture, fields: mine, other: away } : null;
  }

  /**
   * The limits of the colours that will be shown, and their units; null where the picture is shown
   * as it was drawn.
   * @param {Paintable | null} paintable
   */
  limits(paintable) {
    return paintable ? limitsIn(paintable) : (this.#known?.bar ?? null);
  }

  /**
   * The painted picture of the line that was prepared last; null where it is shown as it was drawn.
   * @param {Looks} looks
   * @param {Paintable | null} paintable
   * @param {[low: number, high: number] | null} limits other ones than those of the look
   * @returns {Painted | null}
   */
  paint(looks, paintable, limits) {
    const look = paintable && limits ? { ...paintable.look, limits } : paintable?.look;
    if (paintable && look) {
      [this.#painted, this.#line] = [looks.paint({ ...paintable, look }), this.#seen];
    }
    return this.#known;
  }

  get #known() {
    return this.#line === this.#seen ? this.#painted : null;
  }

  #leave() {
    this.#painted = null;
    return null;
  }
}
