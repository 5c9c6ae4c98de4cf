/**
 * Types that the modules of the page share: what it reads of a run, and what its parts pass to
 * each other. Used by `make lint` only, never part of the page.
 */

import type { Looks } from "./drawing/looks.js";
import type { Cursor } from "./places/cursor.js";
import type { Pins } from "./places/pins.js";
import type { Profile } from "./places/profile.js";
import type { RunStatus } from "./status.d.ts";
import type { Album } from "./time/album.js";
import type { Player } from "./time/player.js";
import type { FieldStore } from "./values/field_store.js";
import type { Comparison } from "./wall/comparison.js";
import type { Pictures } from "./wall/pictures.js";

/** A line of products/index.jsonl: one published file. `isLine` checks the first four keys. */
export interface IndexLine {
  product: string;
  stream: string;
  /** Valid-time key. */
  time: string;
  /** Path relative to products/. */
  name: string;
  attempt?: number;
  bytes?: number;
  crc32?: number;
  /** Unix seconds of its publication. */
  t?: number;
  /** mtime of its frame, Unix seconds by the file server's clock. */
  written?: number | null;
  /** Bytes of all frames that were ready by then. */
  raw_bytes?: number | null;
  /** Part of the buffer that raw frames held by then, from 0 to 1. */
  fill?: number | null;
  /** The model's speed by then, in seconds per second. */
  speed?: number | null;
  /** Seconds of wait, queue, read, draw, stage, publish, and CPU seconds; phases.py has them. */
  clock?: (number | null)[];
  facts?: Facts | null;
  /** The file with its values, where it has one. */
  values?: { name: string; bytes: number; crc32: number };
  pieces?: { name: string; bytes: number; crc32: number }[];
  /** Set by the page in its place, where the file has traces of stations. */
  traces?: IndexLine["values"];
  /** Set by the page: this line has replaced one of an earlier attempt, which was to be kept. */
  replaced?: boolean;
  /** Set by the page: another attempt of the model owns its time by now. */
  stale?: boolean;
}

/** Facts of a product; each kind has its own. */
export interface Facts {
  variable?: string;
  units?: string;
  min?: number;
  max?: number;
  /** The calendar of its valid time, one of CF, where it is not Gregorian. */
  calendar?: string;
  /** How its frame was known to be whole; docs/journal.md names the signals. */
  signal?: string;
  /** Points without a value. */
  nan?: number;
  /** Smallest and largest value of its colours. */
  limits?: [number, number];
  colormap?: string;
  /** Pixels of the picture, and of its plane: left, top, right, bottom; coordinates at its edges. */
  size?: number[];
  box?: number[];
  extent?: number[];
  /** How many values are below and above the colours' limits. */
  outside?: number[];
  /** What the signs on the picture are; an older run has words alone. */
  legend?: (LegendEntry | string)[];
  /** When the model began and how long ago, in words. */
  lead?: string;
  /** The level of a field of several. */
  level?: string;
  /** Latitude and longitude of both ends of a section. */
  ends?: [lat: number, lon: number][] | null;
  /** There is no picture: the frame was damaged, or its product could not be made. */
  placeholder?: boolean;
  reason?: string;
  /** Stations whose traces stand where other pictures have values. */
  traces?: number;
}

/** A sign on the picture and what it means; its colour where that is not black. */
export interface LegendEntry {
  text: string;
  sign?: string;
  colour?: string;
}

/** One of the runs in the same folder. */
export interface OtherRun {
  run: string;
  title: string;
  state: string;
  frames: number;
}

/** Requests to a run; a file of that name is created in its control/. */
export type Order = "stop" | "stop-now" | "pause" | "resume-watching";

/** "server": the server does not answer. "files": it answers but cannot read the files. */
export type Gap = "" | "server" | "files";

/** What a source found in one poll. */
export interface Poll {
  /** null until there is one. */
  status: RunStatus | null;
  /** Whether the status was read in this poll. */
  heard: boolean;
  /** Lines of the index that are new since the previous poll. */
  lines: IndexLine[];
  /** `lines` start anew: forget all earlier ones. */
  fresh: boolean;
  /** Lines of the index from before all that were given so far. */
  older?: IndexLine[];
  /** Whether there are still earlier ones. */
  more?: boolean;
  /** Whether new data can arrive; false while the files cannot be reached. */
  live: boolean;
  /** What cannot be reached; with "server" the state of the run is unknown. */
  gap: Gap;
  /** A sentence for users when something cannot be reached, else "". */
  why: string;
}

/**
 * A source reads a run for the view; the view does not depend on where the data come from.
 *
 * HttpSource (http_source.js) reads from a web server, FileSource (file_source.js) from script
 * files beside the page, which also works under file://, WidgetSource (widget.js) from a Jupyter
 * kernel.
 */
export interface Source {
  /** Called about twice a second, never before the previous call is answered. Does not reject. */
  poll(): Promise<Poll>;
  /**
   * URL of the picture that an index line names. A line that replaces another one under the same
   * name gives another URL.
   */
  image(line: IndexLine): Promise<string>;
  /** The payload of a picture's values (ValuesFile reads it). */
  values(line: IndexLine): Promise<Uint8Array<ArrayBuffer>>;
  /** The content of the grid file of that hash (Grid.read reads it). */
  grid(hash: string): Promise<unknown>;
  /**
   * Gives the series of a product at a place, newest first, one (time, value) after the other; NaN
   * where there is none, and why. Null where only single pictures' values can be read.
   */
  readonly series:
    | ((
        query: Place & { product: string; stream: string },
        take: (time: string, value: number, why?: string) => void,
        signal: AbortSignal,
      ) => Promise<void>)
    | null;
  /**
   * A movie of a series' pictures, made anew; rejects with an Error for users. Null where only the
   * command makes one.
   */
  readonly movie: ((series: { product: string; stream: string }) => Promise<Blob>) | null;
  /** URL of a file by its name relative to products/, or null when none can be given. */
  link(name: string): string | null;
  /**
   * Sends a request to the run; rejects with an Error for users. Null when the run is read-only:
   * then the view shows the command to type. May change from one poll to the next.
   */
  readonly ask: ((what: Order) => Promise<void>) | null;
  /**
   * A part of a log, by its name relative to logs/; `begin` below 0 counts from its end. Rejects with
   * an Error for users.
   */
  log(name: string, begin: number, length: number): Promise<LogPart>;
  /** The texts of recipe.toml and run.json under their names. Rejects with an Error for users. */
  about(): Promise<Record<string, string>>;
  /** Whether only the last lines of logs can be had. */
  readonly endsOnly: boolean;
  /** The runs to compare with, or null where they cannot be listed. */
  others(): Promise<OtherRun[] | null>;
  /** Another source, for a run in the same folder. */
  open(run: Pick<OtherRun, "run">): Source;
  /** Release all resources; no poll follows. */
  close(): void;
}

/** The header of a picture's values; docs/values.md explains its keys. */
export interface ValuesHeader {
  format: number;
  product: string;
  stream: string;
  time: string;
  /** CRC-32 of the picture that the values belong to. */
  picture: number;
  /** The picture's heading, without a level. */
  title?: string;
  size: [width: number, height: number];
  /** Pixels of the map: left, top, right, bottom. */
  box: [number, number, number, number];
  /** Coordinates at its edges: left, right, bottom, top. */
  extent: [number, number, number, number];
  colours: {
    map: string;
    /** Base64 of red, green and blue bytes, from low to high. */
    table: string;
    under: string;
    over: string;
    bad: string;
    /** Where there is no field; in older files that of points without a value. */
    ground?: string;
    limits: [number, number];
    edges: number[];
    /** Of colours in steps, where they have names. */
    names?: string[];
    log: boolean;
  };
  /** Whether the picture blends neighbouring points. */
  smooth?: boolean;
  /** Whether the picture has finer rows than the values, which are sampled in height. */
  resampled?: boolean;
  block: number;
  bytes: number;
  fields: FieldFacts[];
  overlay: { at: [number, number, number, number]; bytes: number }[];
  /** Over the field; in older files they are in the overlay's pixels. */
  words?: InnerWords[];
}

/** Words over the field of a picture, in its pixels (viz/drawing/maps/overlay.py). */
export interface InnerWords {
  text: string;
  at: [x: number, y: number];
  /** Where in their box the place is, 0 to 1 from its left and its top; by default the middle. */
  align?: [number, number];
  /** The size of the font. */
  letter: number;
  /** In degrees, counter-clockwise. */
  angle?: number;
  colour: string;
  bold?: boolean;
}

/** The header of the traces beside a seismogram; docs/values.md explains its keys. */
export interface TracesHeader {
  format: number;
  product: string;
  stream: string;
  picture: number;
  recorded: boolean;
  step_s: number;
  /** The time that samples count from, as a key; null without a calendar. */
  reference: string | null;
  units: string;
  printed: string;
  components: { name: string; title: string }[];
  stations: { name: string; lat?: number; lon?: number; x?: number; y?: number }[];
  first: number;
  step: number;
  points: number;
  each: number;
  /** By component and station; null for a station without samples. */
  scales: (number | null)[][];
}

/** A field of a picture's values; `label` names a nest. */
export interface FieldFacts {
  grid: string;
  variable: string;
  long_name: string;
  units: string;
  /** The units as they are printed. */
  printed: string;
  level: string;
  label?: string;
  stride: number;
  nx: number;
  ny: number;
  first: number;
  bits: number;
  offset: number;
  scale: number;
  transform: "linear" | "log";
  negative: number | null;
  outliers: [row: number, column: number, value: number][];
}

/** A grid file; docs/values.md explains its keys. */
export interface GridFacts {
  format: number;
  kind: "axes" | "pixels";
  x: GridAxis;
  y: GridAxis;
  geographic?: boolean;
  units?: string;
  mesh?: { n: number; lon: (number | null)[]; lat: (number | null)[]; error_km: number };
  along?: { lon: number[]; lat: number[] };
  extent?: number[];
  width?: number;
  height?: number;
  block?: number;
  stream?: string;
  cells?: CellsFacts;
}

/** Where the points of a plane without straight rows lie on the earth. */
export interface CellsFacts {
  turn_bits: number;
  ends: [number, number][];
  block: number;
  stream: string;
}

export interface GridAxis {
  n: number;
  name?: string;
  units?: string;
  start?: number;
  step?: number;
  points?: number[];
  edges?: number[];
  log?: boolean;
  dimension?: string;
  /** The file's number of the first point, and the step to the next. */
  index?: [number, number];
}

/**
 * A place: in degrees, or x and y of a plane (planeOf in place.js; without it, of any plane); of a section
 * distance and height.
 */
export interface Place {
  lat?: number;
  lon?: number;
  x?: number;
  y?: number;
  plane?: string;
}

/** Bytes of a log from `begin` on; `size` is that of the whole log. */
export interface LogPart {
  bytes: Uint8Array;
  begin: number;
  size: number;
}

/** A place on the time axis: an alarm, a guard that tripped, one that stopped the model. */
export interface Mark {
  kind: "alarm" | "trip" | "stop" | "late";
  /** Unix seconds at which it was raised. */
  t: number;
  /** Valid-time key, or null where there is no frame yet. */
  time: string | null;
  /** The same in seconds, or NaN. */
  seconds: number;
  text: string;
  /** Stream and time of the frame, for people. */
  where: string;
}

export type Tone = "quiet" | "busy" | "good" | "warn" | "bad";

/** The state of a run in words; `command` is a command to type, or "". */
export interface Standing {
  state: string;
  tone: Tone;
  sentence: string;
  command: string;
}

/** What a reader does with values, shared by all pictures. */
export interface Tools {
  cursor: Cursor;
  /** Places that are kept. */
  pins: Pins;
  profile: Profile;
  /** Own limits and colours. */
  looks: Looks;
}

/** What the parts of the view draw. */
export interface ViewState extends Tools {
  status: RunStatus | null;
  album: Album;
  player: Player;
  marks: Mark[];
  pictures: Pictures;
  /** Their values. */
  fields: FieldStore;
  source: Source;
  /** The run's id, or "". */
  run: string;
  /** Another run beside it. */
  comparison: Comparison | null;
  /** The mark that was chosen, as JSON. */
  chosen: string;
}

/** anywidget's model: messages to and from the kernel, and what a notebook keeps. */
export interface WidgetModel {
  get(name: "kept"): Kept | undefined;
  send(content: object): void;
  on(event: "msg:custom", heard: Heard): void;
  off(event: "msg:custom", heard: Heard): void;
}

/** Each answer has the id of its question, and `error` when it cannot be given. */
export type Heard = (
  answer: { id: string; error?: string },
  buffers: DataView<ArrayBuffer>[],
) => void;

/** The kernel's answers, by request; answers.py makes them. */
export interface Answers {
  poll: {
    /** null when it is the same as in the previous answer. */
    status: RunStatus | null;
    stamp: number;
    lines: IndexLine[];
    /** Where the index was read to, in bytes. */
    offset: number;
    fresh: boolean;
    /** Whether there is more of the index. */
    more: boolean;
    may_stop: boolean;
  };
  image: { type: string };
  values: object;
  grid: { grid: unknown };
  series: { rows: [time: string, value: number | null, why?: string][]; more: boolean };
  log: { size: number; begin: number };
  about: { texts: Record<string, string> };
  others: { runs: OtherRun[] };
  control: object;
}

/** What is saved in a notebook: the newest picture of each product. */
export interface Kept {
  status?: RunStatus;
  lines?: unknown[];
  pictures?: Record<string, DataView<ArrayBuffer>>;
}

/** Requests a redraw. */
export type Changed = () => void;

/** An axis of a plot: its ends, and its ticks with their labels. */
export interface Axis {
  low: number;
  high: number;
  ticks: [value: number, label: string][];
  scale?: (value: number) => number;
}

/** Position and size, in CSS pixels or a canvas's. */
export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Anything that has a size. */
export type Sized = Pick<Box, "width" | "height">;

declare global {
  /** Called by each script file in products/live/ with the value that it holds. */
  var burstlensFeed: ((value: unknown) => void) | undefined;
}
