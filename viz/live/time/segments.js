import { shortLabel } from "../elements/valid_time.js";
import { objects } from "./marks.js";

/** @import { RunStatus } from "../status.d.ts" */
/** @import { IndexLine } from "../types.d.ts" */

/**
 * A stretch of model time and the attempt that owns it: after `begin`, which is "" where it starts
 * afresh, up to `end`, which is "" where nothing follows yet.
 * @typedef {{ attempt: number, begin: string, end: string, text: string }} Segment
 */

/**
 * Which attempt owns a valid time, where attempts of the model resume from each other's
 * checkpoints.
 */
export class Segments {
  /** @type {Segment[]} in order of model time; none for a run in one piece */
  all;

  /** @param {RunStatus | null} [status] */
  constructor(status) {
    this.all = objects(status?.segments)
      .filter(({ attempt }) => Number.isInteger(attempt))
      .map((part) => {
        const [begin, end] = [part.begin ?? "", part.end ?? ""].map(String);
        return { attempt: part.attempt, begin, end, text: textOf({ ...part, begin, end }) };
      })
      .sort((a, b) => (a.begin < b.begin ? -1 : 1));
    /** The same for the same owners. */
    this.key = this.all.map(({ attempt, begin }) => `${attempt} ${begin}`).join("|");
  }

  /** Those to be told apart; none where there is only one. */
  get several() {
    return this.all.length > 1 ? this.all : [];
  }

  /**
   * The segment in which a valid time lies: the last one that begins before it.
   * @param {string} time
   */
  owner(time) {
    return this.all.findLast(({ begin }) => begin < time);
  }

  /**
   * Whether what a published product shows was computed by an attempt that no longer owns its time.
   * At a checkpoint's own time that of the attempt that resumes there counts, where it stands
   * published: then the earlier one has no whole frame.
   * @param {IndexLine} line
   */
  isStale({ time, attempt }) {
    const owner = this.owner(time);
    if (!owner || !attempt || attempt === owner.attempt) return false;
    return !this.all.some((one) => one.begin === time && one.attempt === attempt);
  }

  /**
   * Why a product is stale, for people; "" where it is not.
   * @param {IndexLine | undefined} line
   */
  why(line) {
    if (!line?.stale) return "";
    const { time, attempt = 0 } = line;
    const owner = this.owner(time);
    const next = owner && owner.attempt > attempt ? owner : this.all.find((s) => s.begin === time);
    const from = next?.begin ? `resumed from ${shortLabel(next.begin, time)}` : "began again";
    const waits = next ? `; attempt ${next.attempt} has not replaced it yet` : "";
    return `computed by attempt ${attempt} before the run ${from}${waits}`;
  }
}

/**
 * A segment in words: "attempt 2, job 4711, from 2005-08-28 12:00 to 18:00, ended: done".
 * @param {{ attempt: number, begin: string, end: string, job_id?: string, outcome?: string,
 *   core_hours?: number, lost_core_hours?: number }} part
 */
function textOf({ attempt, begin, end, job_id: job, outcome, ...part }) {
  const from = begin ? `from ${shortLabel(begin)}` : "from the beginning";
  const to = end ? ` to ${shortLabel(end, begin)}` : "";
  return [
    `attempt ${attempt}`,
    job && `job ${job}`,
    `${from}${to}`,
    outcome && `ended: ${outcome}`,
    part.core_hours !== undefined && `${part.core_hours} core-hours`,
    part.lost_core_hours && `${part.lost_core_hours} of them lost while its job waited`,
  ]
    .filter(Boolean)
    .join(", ");
}
