import { element, say, set } from "../elements/element.js";
import { caveat } from "../run/attached.js";

/** @import { Sheet } from "../drawing/sheet.js" */
/** @import { IndexLine, ViewState } from "../types.d.ts" */

/** What a reader should know of a pane's pictures before trusting them. A stale one is dimmed. */
export class Caveats {
  /** In a word or two, beside the picture's name. */
  short = element("span", { className: "caveat" });
  /** Why a picture is stale, in a sentence. */
  why = element("span", { className: "why-stale" });

  /**
   * `seen` and `other` are the lines of the two runs' sheets; the first one may show their
   * difference.
   * @param {ViewState} state
   * @param {IndexLine | undefined} seen
   * @param {IndexLine | undefined} other
   * @param {boolean} isDifference
   * @param {Sheet} first
   * @param {Sheet} second
   */
  show({ album, comparison }, seen, other, isDifference, first, second) {
    say(this.short, caveat(seen));
    const mine = album.segments.why(seen);
    const theirs = comparison ? comparison.album.segments.why(other) : "";
    const whys = [mine && `Stale: ${mine}`, theirs && `Stale in ${comparison?.run}: ${theirs}`];
    say(this.why, whys.filter(Boolean).join(". "));
    set(first.element, { "data-stale": Boolean(mine || (isDifference && theirs)) });
    set(second.element, { "data-stale": Boolean(theirs) });
  }
}
