import { showRough } from "../elements/digits.js";
import { counted, dayTime, ordinal, showDuration } from "../elements/quantity.js";
import { timeLabel } from "../elements/valid_time.js";
import { attachedOf, observed } from "./attached.js";
import { SILENT_S } from "./pulse.js";

/** @import { Pulse } from "./pulse.js" */
/** @import { RunStatus } from "../status.d.ts" */
/** @import { Gap, Standing, Tone } from "../types.d.ts" */

/** States in which a run has ended. */
const OVER = new Set(["done", "failed", "stopped"]);
/** Exit codes of exit_codes.py. */
const BY_A_GUARD = 3;
const FRAMES_LOST = 5;
const NO_SPACE = 6;
const TRIPPED_AFTER_END = 7;
/** @type {Set<number | undefined>} */
const BAD_ENDS = new Set([BY_A_GUARD, NO_SPACE]);
/**
 * The word for a run whose model in the folder has ended while the run goes on, and the tones.
 * @type {Record<string, string>}
 */
const MODEL = { ending: "model ending", ended: "model ended", failed: "model failed" };
/** @type {Record<string, Tone>} */
const TONES = { quiet: "warn", "model ended": "good", "model failed": "bad" };
/** @typedef {(tone: Tone, sentence: string, command?: string) => Standing} MakeStanding */

const GAPS = { server: "unreachable", files: "unreadable" };

/**
 * The state of a run in words: {state, tone, sentence, command}. `tone` is "quiet", "busy",
 * "good", "warn" or "bad"; `command` is a command to type, or "". `gap` is what poll() could not
 * reach: then the state of a run that has not ended is unknown.
 * @param {RunStatus | null} status
 * @param {Pulse} pulse
 * @param {Gap} [gap]
 * @returns {Standing}
 */
export function standing(status, pulse, gap = "") {
  if (gap && !isOver(status)) {
    return { state: GAPS[gap], tone: "bad", sentence: "Its state is unknown.", command: "" };
  }
  if (!status)
    return { state: "reading", tone: "quiet", sentence: "Reading the run.", command: "" };
  /** @type {MakeStanding} */
  const make = (tone, sentence, command = "") => ({ state: status.state, tone, sentence, command });
  if (isOver(status)) return ended(status, make);
  const resume = `burstlens resume ${status.run}`;
  const hint = asSentence(status.hint);
  const gone = (status.driver_alive === false || status.state === "lost") && !pulse.denied;
  if (status.driver?.pid === undefined && !gone) {
    return { ...make("quiet", hint || "Waits for its driver to begin."), state: "waiting" };
  }
  if (status.silent_s && status.driver_alive) return { ...make("bad", hint), state: "silent" };
  // A server that has checked the process itself is right, whatever its heartbeat.
  if (gone || (status.driver_alive !== true && pulse.silence > SILENT_S)) {
    const again = attachedOf(status) ? "Look again with" : "Resume the run with";
    const sentence = gone
      ? `${hint || "Its driver is gone."} ${again}`
      : `No sign of its driver since ${pulse.last}: it is gone, or this is an old copy of its files. ` +
        again;
    return { ...make("bad", sentence, resume), state: "lost" };
  }
  if (status.driver?.loading && hint) return make("busy", hint);
  const state = status.state === "lost" ? "running" : status.state;
  if (attachedOf(status)) return withSilence(looking(status, state, make), status);
  return withSilence({ ...make("busy", waits(status)), state }, status);
}

/**
 * With a scheduler that does not answer, as what is said of its jobs is as old.
 * @param {Standing} known
 * @param {RunStatus} status
 * @returns {Standing}
 */
function withSilence(known, { scheduler }) {
  if (!scheduler?.silent_s) return known;
  const lasts = showDuration(scheduler.silent_s);
  return {
    ...known,
    sentence: `${known.sentence} ${scheduler.title} has not answered for ${lasts}.`,
  };
}

/**
 * Whether a run has ended. One that looks at a folder may be quiet and go on: only with an outcome
 * it has ended so.
 * @param {RunStatus | null} status
 */
export function isOver(status) {
  const quiet = status?.state === "quiet" && Boolean(status.outcome);
  return quiet || OVER.has(status?.state ?? "");
}

/**
 * A run that looks at a folder and goes on: the model's state and evidence, then the products.
 * @param {RunStatus} status
 * @param {string} state
 * @param {MakeStanding} make
 * @returns {Standing}
 */
function looking(status, state, make) {
  const part = attachedOf(status) ?? { path: "" };
  if (part.lost && !part.gone) {
    const sentence = `${part.path} cannot be read: ${part.lost}. It is looked for again.`;
    return { ...make("bad", sentence), state: "folder away" };
  }
  const word = state === "running" ? (MODEL[part.state ?? ""] ?? state) : state;
  const tone = TONES[word] ?? "busy";
  const gone = part.gone ? asSentence(part.lost ?? "") : "";
  const sentence = [observed(part), gone || lookWaits(status)].filter(Boolean).join(" ");
  return { ...make(tone, sentence), state: word };
}

/** @param {RunStatus} status */
function lookWaits(status) {
  if (status.state === "stopping") return "It is asked to stop.";
  if (status.paused) return "Products are paused.";
  if (!status.frames?.ready) return "No whole frame is found yet.";
  if (!published(status)) return `${frames(status)}; the first pictures are being made.`;
  return production(status);
}

/**
 * A text of status.json as a sentence; empty without one.
 * @param {string | undefined} told
 */
function asSentence(told) {
  const text = String(told ?? "");
  return text && `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}

/**
 * @param {RunStatus} status
 * @param {MakeStanding} make
 */
function ended(status, make) {
  const outcome = status.outcome ?? {};
  const took = typeof status.took_s === "number" ? ` It took ${showDuration(status.took_s)}.` : "";
  const saved = outcome.saved_node_hours
    ? ` ${showRough(outcome.saved_node_hours)} node-hours were saved.`
    : "";
  const left = outcome.left ? ` ${asSentence(outcome.left)}` : "";
  if (status.state === "done") {
    return make(left ? "warn" : "good", `Done: ${frames(status)}.${took}${left}`);
  }
  const looked = attachedOf(status) !== null;
  if (status.state === "quiet") {
    const why = outcome.message ? ` ${asSentence(outcome.message)}` : "";
    const sentence = `Quiet, and no longer looked at: ${frames(status)}.${why}${took} Look again with`;
    return make("quiet", sentence, `burstlens resume ${status.run}`);
  }
  const what = `${asSentence(outcome.message || status.state)}${took}`;
  if (outcome.exit_code === FRAMES_LOST) {
    return make("bad", `${what} Only the model can write them again: start a new run.${left}`);
  }
  if (outcome.exit_code === TRIPPED_AFTER_END) {
    return make("bad", `${what} Correct the model's settings and start a new run.${left}`);
  }
  const wrong = status.state === "failed" || BAD_ENDS.has(outcome.exit_code ?? 0);
  const tone = wrong ? "bad" : "warn";
  if (outcome.advice) {
    return make(tone, `${what}${saved}${left} ${asSentence(outcome.advice)}`);
  }
  const room = outcome.exit_code === NO_SPACE;
  const good = (status.checkpoints ?? []).filter((one) => one.state !== "suspect").at(-1);
  const from = good ? ` from its checkpoint of ${timeLabel(good.time)}` : "";
  const again = `${room ? "When there is room again, resume it" : "Resume it"}${from} with`;
  return make(
    tone,
    `${what}${saved}${left} ${looked ? "Look again with" : again}`,
    `burstlens resume ${status.run}`,
  );
}

/**
 * Why the run's job waits, its place in the queue and when it may begin; empty where none waits.
 * @param {RunStatus} status
 */
function inQueue({ waits_for: reason, queue }) {
  if (!reason && !queue) return "";
  const { by, partition, position, of, start } = queue ?? {};
  const parts = [reason];
  const where = partition ? ` in ${partition}` : "";
  if (position) parts.push(`${ordinal(position)} of ${of}${where}`);
  if (start) parts.push(`expected start ${dayTime(start)} by ${by}'s estimate`);
  const known = parts.filter(Boolean).join(", ");
  return ` ${["In the scheduler's queue", known].filter(Boolean).join(": ")}.`;
}

/**
 * What a run in progress does or waits for.
 * @param {RunStatus} status
 */
function waits(status) {
  const phase = status.progress?.phase ?? "";
  const queue = inQueue(status);
  switch (status.state) {
    case "waiting for the buffer":
      return `Waits for its buffer.${queue}`;
    case "staging in":
      return "Stage in: copies the inputs to the buffer.";
    case "stopping":
      return "Stops: the frame in progress may end.";
    case "draining":
      return draining(status);
    case "bringing home":
      return "Brings home logs and what the recipe keeps.";
  }
  if (queue) return `Waits for the simulation to start.${queue}`;
  if (status.paused) return "The model goes on; products are paused.";
  if (phase === "compiling") return "The model compiles, which happens once on a machine.";
  if (!status.frames?.ready) return "Waits for the model's first frame.";
  if (status.block === "queued") return `${frames(status)}; ${viewingQueued(status)}.`;
  if (status.block !== "running") return `${frames(status)}; the viewing job is ${status.block}.`;
  if (!published(status)) return `${frames(status)}; the first pictures are being made.`;
  return production(status);
}

/** @param {RunStatus} status */
function draining(status) {
  const left = `The model has ended; ${counted(status.backlog ?? 0, "product")} to be made`;
  return status.block === "queued" ? `${left}; ${viewingQueued(status)}.` : `${left}.`;
}

/** @param {RunStatus} status */
function viewingQueued({ block_waits: reason }) {
  return ["the viewing job is in the queue", reason].filter(Boolean).join(": ");
}

/** @param {RunStatus} status */
function production(status) {
  return status.backlog
    ? `${frames(status)}, ${counted(status.backlog, "product")} to be made.`
    : `${frames(status)}, and every product of them is made.`;
}

/** @param {RunStatus} status */
function frames(status) {
  const { ready = 0, damaged = 0 } = status.frames ?? {};
  return counted(ready, "frame") + (damaged ? `, ${damaged} damaged` : "");
}

/** @param {RunStatus} status */
function published(status) {
  return Object.values(status.products ?? {}).some((product) => product.published > 0);
}
