import { asDifference } from "../drawing/looks.js";
import { Painting } from "../drawing/painting.js";
import { commonScale, lookBeside, widerLimits } from "./two_runs.js";

/** @import { IndexLine, ViewState } from "../types.d.ts" */

/** One product's picture and that of another run at the same valid time, in the reader's look. */
export class PaintedPair {
  #mine = new Painting();
  #theirs = new Painting();

  /** Whether something is to be taken away that the picture cannot have. */
  get lacks() {
    return this.#mine.lacks;
  }

  /**
   * The pictures as they are to be seen, `seen` and `other` (the other run's); null for those that
   * are shown as they were drawn. Until values of a line are loaded, the line that was painted
   * before is seen, so that no picture stands under the time of another. `needs` and `theirNeeds`
   * are the lines whose values are to be loaded, of `coming` and of `counterpart`, the other run's.
   * @param {ViewState} state
   * @param {string} id of the series
   * @param {IndexLine | undefined} coming
   */
  paint(state, id, coming) {
    let pair = this.#prepare(state, id, coming);
    const counterpart = pair.other;
    const [needs, theirNeeds] = [this.#mine.needs, pair.isBeside ? this.#theirs.needs : []];
    const former = this.#mine.line;
    if (pair.waits && former && former !== coming) pair = this.#prepare(state, id, former);
    const { seen, ready, others, isBeside } = pair;
    // As drawn the two may have other limits, and differences have limits by their sizes.
    const wider = isBeside
      ? widerLimits(this.#mine.limits(ready), this.#theirs.limits(others))
      : null;
    const painted = seen ? this.#mine.paint(state.looks, ready, wider) : null;
    const theirs = isBeside ? this.#theirs.paint(state.looks, others, wider) : null;
    return { ...pair, counterpart, painted, theirs, needs, theirNeeds };
  }

  /**
   * @param {ViewState} state
   * @param {string} id
   * @param {IndexLine | undefined} seen
   */
  #prepare(state, id, seen) {
    const { comparison, looks } = state;
    const other = seen && comparison?.album.series.get(id)?.exactly(seen.time);
    const rival = comparison && { line: other, fields: comparison.fields };
    const isDifference = comparison?.mode === "difference";
    const isBeside = Boolean(seen && other && comparison && !isDifference);
    const lookId = isDifference ? asDifference(id) : id;
    const own = looks.of(lookId);
    const scale =
      seen && other && comparison && isBeside
        ? commonScale(seen, other, own, comparison.run)
        : null;
    const look = scale?.limits ? { ...own, limits: scale.limits } : own;
    const ready = seen ? this.#mine.prepare(state, seen, rival, look) : null;
    const others =
      seen && other && comparison && isBeside
        ? this.#theirs.prepare(comparison, other, null, lookBeside(look, seen, other))
        : null;
    // A film goes on: the other run's picture is shown as it was drawn until its values are loaded.
    const both = isBeside && !state.player.playing;
    const waits = seen !== undefined && (this.#mine.waits || (both && this.#theirs.waits));
    return { seen, other, lookId, look, scale, isBeside, ready, others, waits };
  }
}
