/** What the page reads of a run's status; tools/page_types.py writes this file. */

/**
 * A snapshot with what its reader adds, as `burstlens status --json` prints it.
 *
 * `driver_alive`: whether the driver lives, or can still begin; None while the run directory
 * cannot be read. `silent_s`: for how long a driver that lives has written nothing.
 * `model_ended`, of a run whose driver is dead: whether the newest attempt's supervisor has
 * recorded that its model ended. `hint` is a note on the driver, for users.
 */
export interface RunStatus {
  run: string;
  title: string;
  state: string;
  frames: FrameCounts;
  products: Record<string, ProductCounts>;
  ledger: Ledger;
  block: string;
  pictures: string;
  driver: DriverPart;
  backlog?: number;
  alarms?: Message[];
  events?: (Message | string)[];
  progress?: ProgressPart | null;
  latency_s?: Latency | null;
  buffer?: BufferPart | null;
  attached?: AttachedPart | null;
  outcome?: OutcomePart | null;
  attempt?: number | null;
  started?: number | null;
  took_s?: number | null;
  idle_s?: number | null;
  paused?: boolean | null;
  block_waits?: string | null;
  waits_for?: string | null;
  queue?: QueuePart | null;
  scheduler?: SchedulerPart | null;
  last_product?: LastProduct | null;
  output?: OutputPart;
  tuning?: TuningPart;
  trips?: TripPart[] | null;
  guards?: GuardPart[] | null;
  log_tail?: string[] | null;
  logs?: string[] | null;
  raw?: RawPart;
  segments?: SegmentPart[];
  lost_core_hours?: number;
  checkpoints?: CheckpointPart[];
  format?: number | null;
  burstlens?: string | null;
  driver_alive?: boolean | null;
  silent_s?: number;
  model_ended?: boolean;
  buffer_requested?: RequestedBuffer;
  hint?: string;
}

/** Frames that are ready; frames that are lost or damaged. */
export interface FrameCounts {
  ready: number;
  damaged: number;
}

/**
 * A product: how many are published, how many failed, the latest reason; how often an attempt
 * has computed one again to the same bytes, which was `kept`.
 */
export interface ProductCounts {
  published: number;
  failed: number;
  kind?: string;
  reason?: string;
  kept?: number;
}

/** Bytes of raw frames against bytes of products. */
export interface Ledger {
  raw_bytes: number;
  product_bytes: number;
}

/**
 * The driver: its process, and when it last wrote. `ticks` tells processes of one id apart;
 * `loading`: it has not begun. `uptime` is the heartbeat by the monotonic clock of its host,
 * which nobody sets.
 */
export interface DriverPart {
  host?: string;
  pid?: number;
  ticks?: number;
  epoch?: number;
  heartbeat?: number;
  loading?: boolean;
  uptime?: number;
}

/** What a person should see, at `t`; a frame or a product where it belongs to one. */
export interface Message {
  text: string;
  t?: number;
  stream?: string;
  time?: string;
  product?: string;
}

/** How far the model is, as `burstlens.core.model.Progress` has it. */
export interface ProgressPart {
  time?: string;
  elapsed_s?: number;
  total_s?: number;
  speed?: number;
  eta_s?: number;
  rate_mpps?: number;
  phase?: string;
  fraction?: number;
}

/** Seconds from a frame's last byte to its product's publication. */
export interface Latency {
  last: number;
  p50: number;
  p95: number;
}

/** The run's space on the buffer; `fill` is the part that raw frames hold. */
export interface BufferPart {
  path: string;
  released: boolean;
  fill: number;
  raw_bytes: number;
  capacity_bytes: number;
  name?: string | null;
  free_bytes?: number | null;
  owned?: boolean | null;
  created?: string | null;
}

/**
 * The folder that an attached run looks at: its real path, the model that it was taken for and
 * why; products that its files cannot give.
 *
 * `state` of that model (unknown, waiting, running, quiet, ending, ended, failed), with its
 * evidence, since when, and the seconds since its scheduler was asked for that (`age_s`).
 * `began` says why the current attempt began, `lost` why the folder cannot be read now,
 * `gone` that it never will be. `unproven` counts frames that no witness has confirmed.
 * `job` or `pid` is that of the model, which may be stopped where `allow_stop` is set.
 */
export interface AttachedPart {
  path: string;
  model?: string;
  reason?: string;
  state?: string | null;
  evidence?: string | null;
  since?: number | null;
  age_s?: number | null;
  allow_stop?: boolean;
  left_out?: string[];
  began?: string | null;
  lost?: string | null;
  gone?: boolean;
  unproven?: number;
  job?: string | null;
  pid?: number | null;
}

/** How the run ended. */
export interface OutcomePart {
  state?: string | null;
  exit_code?: number | null;
  message?: string | null;
  line?: string | null;
  saved_node_hours?: number | null;
  left?: string | null;
  advice?: string | null;
}

/**
 * Where the job stands that the run waits for: the `position`-th of `of` jobs that wait in
 * the scheduler's `partition`, and when it may begin by the estimate of `by`, the scheduler.
 * What that does not say is left out.
 */
export interface QueuePart {
  by: string;
  partition?: string;
  position?: number;
  of?: number;
  start?: number;
}

/**
 * A scheduler that does not answer, by its title, and for how long it had not when this was
 * written: what is said of its jobs is as old.
 */
export interface SchedulerPart {
  title: string;
  silent_s: number;
}

/** The product that was published last. */
export interface LastProduct {
  product: string;
  stream: string;
  time: string;
  name: string;
  t: number;
}

/**
 * How long the model is at its output, by its log: `part` of its time between its first
 * output and its last, node-hours so far, each stream.
 */
export interface OutputPart {
  streams: Record<string, StreamOutputPart>;
  part?: number;
  node_hours?: number;
}

/**
 * The output of a stream in the current attempt: how many, their seconds in all, bytes/s over
 * them, and the latest of them, oldest first.
 */
export interface StreamOutputPart {
  count: number;
  took_s: number;
  rate?: number;
  latest?: OutputNow[];
}

/**
 * One output of a stream: its valid time (or file), seconds, bytes/s, and what the MPI library
 * reported: aggregators, the part of the time in which they received data.
 */
export interface OutputNow {
  took_s?: number;
  time?: string;
  rate?: number;
  aggregators?: number;
  data_send?: number;
}

/**
 * The trials of a tuning: how many were measured, the phase and the seconds in output of the
 * latest of them; whether it has its verdict.
 */
export interface TuningPart {
  trials: number;
  phase?: string;
  seconds?: number;
  concluded?: boolean;
}

/** A guard that tripped, at `t`: what `guard.tripped` of the journal says of it. */
export interface TripPart {
  t?: number;
  guard?: string;
  then?: string;
  text?: string;
  what?: string;
  variable?: string | null;
  value?: number | null;
  limit?: number | null;
  units?: string | null;
  stream?: string;
  time?: string;
  attempt?: number;
  place?: Record<string, unknown> | null;
  after_end?: boolean;
  earlier?: boolean;
}

/** The state of a guard: `waiting`, `good`, `tripped` or `failed`, and why. */
export interface GuardPart {
  name?: string;
  text?: string;
  then?: string;
  state?: string;
  why?: string;
  repeats?: number;
}

/**
 * The raw files of a run that is over: how many came home with how many bytes, and of how many
 * frames they were deleted before its end.
 */
export interface RawPart {
  home: number;
  home_bytes: number;
  released: number;
}

/**
 * A stretch of model time and the attempt that owns it: after the valid time `begin`, up to
 * `end`, which the newest one lacks; the id of its job, how that ended, what it has cost, and
 * what of that while it waited for the attempt. What other attempts have computed there is
 * stale.
 */
export interface SegmentPart {
  attempt: number;
  begin?: string;
  end?: string;
  job_id?: string;
  outcome?: string;
  core_hours?: number;
  lost_core_hours?: number;
}

/**
 * A whole checkpoint from which the run can continue: its valid `time`, the attempt that
 * wrote it, how many files it has and their size. `state` is `good`; `unjudged` while guards
 * have not read every frame up to its time; or `suspect`, and then `why`. `home`: its files
 * are in the run directory.
 */
export interface CheckpointPart {
  time: string;
  attempt: number;
  state: string;
  files: number;
  bytes: number;
  why?: string;
  home?: boolean;
}

/** A buffer that a dead driver had requested and not seen, and the job that makes it. */
export interface RequestedBuffer {
  name: string;
  job?: string;
}
