import { counted, showDuration } from "../elements/quantity.js";

/** @import { AttachedPart, RunStatus } from "../status.d.ts" */
/** @import { IndexLine } from "../types.d.ts" */

/**
 * What is known of the model in the folder, by its observed state.
 * @type {Record<string, string>}
 */
const STATES = {
  waiting: "The model waits",
  running: "The model runs",
  quiet: "Quiet",
  ending: "The model is ending",
  ended: "The model has ended",
  failed: "The model has failed",
};

/**
 * The folder that a run looks at; null for a run that launches its model.
 * @param {RunStatus | null} status
 * @returns {AttachedPart | null}
 */
export function attachedOf(status) {
  const part = status?.attached;
  return part !== null && typeof part === "object" ? part : null;
}

/**
 * The model's state with its evidence, as a sentence; empty before the first look.
 * @param {AttachedPart} part
 */
export function observed({ state, evidence, age_s: age }) {
  if (!state) return "";
  const known = STATES[state] ?? "The state of the model is not known";
  return `${[known, withAge(evidence, age)].filter(Boolean).join(": ")}.`;
}

/**
 * What is known of the model, and when its scheduler was asked for that.
 * @param {string | null | undefined} evidence
 * @param {number | null | undefined} age
 */
function withAge(evidence, age) {
  return evidence && typeof age === "number"
    ? `${evidence} (asked ${showDuration(age)} ago)`
    : evidence;
}

/**
 * What would be stopped: "job 4711", "process 12"; empty where neither is named.
 * @param {AttachedPart} part
 */
export function subjectOf({ job, pid }) {
  if (job) return `job ${job}`;
  return typeof pid === "number" ? `process ${pid}` : "";
}

/**
 * Whether the run may stop the model: a launched one always, one of others only by permission.
 * @param {RunStatus | null} status
 */
export function mayStop(status) {
  const part = attachedOf(status);
  return part === null || (Boolean(part.allow_stop) && subjectOf(part) !== "");
}

/**
 * The part as labels and texts, in the order in which they are shown.
 * @param {RunStatus | null} status
 * @returns {[label: string, text: string][]}
 */
export function attachedRows(status) {
  const part = attachedOf(status);
  if (part === null) return [];
  const { model = "", reason = "", unproven = 0, left_out: leftOut } = part;
  const named = reason.toLowerCase().startsWith(model.toLowerCase());
  const since = typeof part.since === "number" ? ` since ${when(part.since)}` : "";
  const evidence = withAge(part.evidence, part.age_s);
  const known = [`${part.state ?? ""}${since}`, evidence].filter(Boolean).join(": ");
  /** @type {[string, string][]} */
  const rows = [
    ["Looks at", part.path],
    ["Taken for", named ? reason : [model, reason].filter(Boolean).join(": ")],
    ["Cannot be read", part.lost ?? ""],
    ["Model", part.state ? known + asOf(status) : ""],
    ["Attempt", part.began ? `${status?.attempt ?? ""}: ${part.began}` : ""],
    ["Unproven", unproven ? `${counted(unproven, "frame")}, which no witness confirms` : ""],
    ["Left out", Array.isArray(leftOut) ? leftOut.join("\n") : ""],
  ];
  return rows.filter(([, text]) => text);
}

/**
 * When that was, where no driver observes any more: its ages are those of then. Empty else.
 * @param {RunStatus | null} status
 */
function asOf(status) {
  const beat = status?.driver?.heartbeat;
  const gone = Boolean(status?.outcome) || status?.driver_alive === false;
  return gone && typeof beat === "number" ? ` (as of ${when(beat)})` : "";
}

/**
 * What a picture's frame is, where that is not what a reader expects: not proven to be whole, or
 * written anew. Empty else.
 * @param {IndexLine | undefined} line
 */
export function caveat(line) {
  const marks = [];
  if (line?.facts?.signal === "unproven") marks.push("unproven");
  if (line?.replaced) marks.push(`written anew, attempt ${line.attempt}`);
  return marks.join(", ");
}

/**
 * Date and time of day on the viewer's clock, as 2005-08-28 12:00:00.
 * @param {number} t
 */
function when(t) {
  return new Date(1000 * t).toLocaleString("sv-SE");
}
