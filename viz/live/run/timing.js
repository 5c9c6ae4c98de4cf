import { clockTicks, ticks } from "../elements/axis.js";
import { drawn, element, say, set } from "../elements/element.js";
import { counted, showDuration } from "../elements/quantity.js";
import { timeLabel } from "../elements/valid_time.js";
import { Outputs } from "./outputs.js";

/** @import { Course } from "../time/album.js" */
/** @import { IndexLine, ViewState } from "../types.d.ts" */

/** The phases of a product, in the order of an index line's `clock`. */
export const PHASES = ["wait", "queue", "read", "draw", "stage", "publish"];
const MEANINGS = [
  "the frame was written and not yet found",
  "it waited for a worker",
  "its file was opened and read, and guards judged it",
  "the product was computed and drawn",
  "it was brought out and verified",
  "it got its name",
];
const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [430, 150, 46, 18, 8];
const COLUMNS = 96;

/** Where the time of each frame went, from its last byte to its published product. */
export class Timing {
  #drawnFor = "";
  #shownFor = "";
  #title = element("h2", {});
  #bars = element("div", { className: "bars" });
  #heading = element("h2", {});
  #chart = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  #note = element("p", { className: "where" });
  #medians = element("dl", { className: "legend" });
  #outputs = new Outputs();

  constructor() {
    this.element = element(
      "div",
      { className: "timing", tabIndex: 0 },
      this.#title,
      this.#bars,
      this.#heading,
      this.#chart,
      this.#medians,
      this.#note,
      this.#outputs.element,
    );
  }

  /** @param {ViewState} state */
  show({ status, album, player }) {
    this.#outputs.show(status);
    const since = status?.attached ? (status.started ?? 0) : -Infinity;
    const name = `${album.version}`;
    if (`${name} ${player.time}` !== this.#shownFor) {
      this.#shownFor = `${name} ${player.time}`;
      const { time } = player;
      const all = [...album.series.values()];
      const lines = time === null ? [] : all.map((one) => one.exactly(time)).filter((one) => !!one);
      this.#showFrame(lines, time, since);
    }
    if (name !== this.#drawnFor) {
      this.#drawnFor = name;
      this.#showCourse(album.course, since);
    }
  }

  /**
   * @param {IndexLine[]} lines
   * @param {string | null} time
   * @param {number} since
   */
  #showFrame(lines, time, since) {
    say(this.#title, time === null ? "No frame" : `The frame of ${timeLabel(time)}`);
    const known = lines
      .map((line) => ({ line, parts: partsOf(line, since) }))
      .filter(({ parts }) => parts.some(Number.isFinite));
    const most = Math.max(0.001, ...known.map(({ parts }) => total(parts)));
    this.#bars.replaceChildren(
      ...known.map(({ line, parts }) => {
        const bar = element("div", { className: "stack" });
        for (const [i, part] of parts.entries()) {
          if (!(part > 0)) continue;
          const piece = element("span", {
            className: PHASES[i],
            title: `${PHASES[i]} ${showDuration(part)}`,
          });
          piece.style.width = `${(100 * part) / most}%`;
          bar.append(piece);
        }
        const told = PHASES.map((phase, i) => `${phase} ${shown(parts[i])}`).join(", ");
        bar.setAttribute("role", "img");
        bar.setAttribute("aria-label", told);
        const cpu = line.clock?.[PHASES.length];
        const more = typeof cpu === "number" ? `, ${showDuration(cpu)} of CPU` : "";
        return element(
          "div",
          { className: "of-product" },
          element("span", {}, `${line.product} · ${line.stream}`),
          element("span", { className: "where" }, `${showDuration(total(parts))}${more}`),
          bar,
          element("span", { className: "where" }, told),
        );
      }),
    );
    if (known.length || !lines.length) return;
    const why = "Where its time went is not known: an older version has published it.";
    this.#bars.append(element("p", { className: "where" }, why));
  }

  /**
   * @param {Course} course
   * @param {number} since
   */
  #showCourse(course, since) {
    const rows = course.lines
      .map((line) => partsOf(line, since))
      .filter((parts) => parts.some(Number.isFinite));
    this.#chart.toggleAttribute("hidden", !rows.length);
    this.#medians.hidden = !rows.length;
    if (!rows.length) {
      say(this.#heading, "");
      return say(this.#note, "");
    }
    const all = median(rows.map(total));
    say(this.#heading, `${counted(rows.length, "product")}: median ${showDuration(all)}`);
    set(this.#chart, { "aria-label": `Seconds of each phase over ${rows.length} products` });
    this.#draw(rows, all);
    const medians = PHASES.map((_, i) => median(rows.map((parts) => parts[i])));
    this.#medians.replaceChildren(
      ...PHASES.map((phase, i) =>
        element(
          "div",
          { title: MEANINGS[i] },
          element("dt", { className: phase }, phase),
          element("dd", {}, shown(medians[i])),
          element("dd", { className: "where" }, MEANINGS[i]),
        ),
      ),
    );
    const cpu = median(course.cpu);
    const skewed = rows.some((parts) => parts.some((part) => part < 0));
    const told = Number.isFinite(cpu)
      ? `A product takes ${showDuration(cpu)} of its worker's CPU (median). `
      : "The CPU time of the workers is not known. ";
    const apart = skewed ? " Some phases are below zero: clocks of the machines differ." : "";
    say(this.#note, `${told}The CPU time of the model's job is not measured.${apart}`);
  }

  /**
   * @param {number[][]} rows
   * @param {number} all
   */
  #draw(rows, all) {
    const size = Math.max(1, Math.ceil(rows.length / COLUMNS));
    /** @type {number[][]} */
    const columns = [];
    for (let i = 0; i < rows.length; i += size) {
      const part = rows.slice(i, i + size);
      columns.push(PHASES.map((_, k) => Math.max(0, median(part.map((row) => row[k])) || 0)));
    }
    const sums = columns.map(total);
    // One late frame must not flatten all others: it is cut, and said so by its number.
    const sorted = sums.slice().sort((a, b) => a - b);
    const high = Math.max(
      1.15 * Math.min(sorted[sorted.length - 1], 4 * sorted[sorted.length >> 1]),
      1e-3,
    );
    const toY = (/** @type {number} */ v) =>
      TOP + (HEIGHT - BOTTOM - TOP) * (1 - Math.min(v, high) / high);
    const width = (WIDTH - LEFT) / columns.length;
    const paths = PHASES.map((phase, k) => {
      const d = columns.map((parts, i) => {
        const below = total(parts.slice(0, k));
        const x = (LEFT + i * width).toFixed(1);
        return parts[k]
          ? `M${x} ${toY(below).toFixed(1)}V${toY(below + parts[k]).toFixed(1)}h${Math.max(0.5, width * 0.88).toFixed(1)}V${toY(below).toFixed(1)}z`
          : "";
      });
      return drawn("path", { class: phase, d: d.join("") });
    });
    const marks = (
      high < 60
        ? ticks
        : (/** @type {number} */ a, /** @type {number} */ b, /** @type {number} */ n) =>
            clockTicks(a, b, n).values
    )(0, high, 3);
    this.#chart.replaceChildren(
      ...marks.flatMap((v) => [
        drawn("path", { class: "grid", d: `M${LEFT} ${toY(v).toFixed(1)}H${WIDTH}` }),
        drawn(
          "text",
          { x: LEFT - 5, y: (toY(v) + 3.5).toFixed(1), "text-anchor": "end" },
          showDuration(v),
        ),
      ]),
      ...paths,
      drawn("path", { class: "median", d: `M${LEFT} ${toY(all).toFixed(1)}H${WIDTH}` }),
      drawn("text", { x: LEFT, y: HEIGHT - 4 }, "first published"),
      drawn("text", { x: WIDTH, y: HEIGHT - 4, "text-anchor": "end" }, "latest"),
    );
  }
}

/**
 * Seconds of each phase; NaN where unknown. What was written before the run began to look has no
 * wait and no queue: it had been there.
 * @param {IndexLine} line
 * @param {number} since
 */
function partsOf({ clock, written }, since) {
  const parts = PHASES.map((_, i) => (typeof clock?.[i] === "number" ? clock[i] : NaN));
  if (typeof written === "number" && written < since) parts[0] = NaN;
  return parts;
}

/** @param {number[]} parts */
function total(parts) {
  return parts.reduce((sum, part) => sum + (part > 0 ? part : 0), 0);
}

/** @param {number[]} values */
export function median(values) {
  const known = values.filter(Number.isFinite).sort((a, b) => a - b);
  return known.length ? known[known.length >> 1] : NaN;
}

/** @param {number} seconds */
function shown(seconds) {
  return Number.isFinite(seconds) ? showDuration(Math.max(0, seconds)) : "–";
}
