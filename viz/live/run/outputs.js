import { showRough } from "../elements/digits.js";
import { drawn, element, say } from "../elements/element.js";
import { counted, showBytes, showDuration } from "../elements/quantity.js";
import { timeLabel } from "../elements/valid_time.js";

/** @import { OutputNow, OutputPart, RunStatus } from "../status.d.ts" */

const [WIDTH, HEIGHT] = [430, 30];

/** How long the model is at its output, by its own log: each stream's latest outputs. */
export class Outputs {
  #heading = element("h2", {});
  #rows = element("div", { className: "bars" });
  #shown = "";
  element = element("div", { hidden: true }, this.#heading, this.#rows);

  /** @param {RunStatus | null | undefined} status */
  show(status) {
    const output = status?.output;
    const state = JSON.stringify(output ?? null);
    if (state === this.#shown) return;
    this.#shown = state;
    this.element.hidden = !output;
    if (!output) return;
    say(this.#heading, headingOf(output));
    this.#rows.replaceChildren(
      ...Object.entries(output.streams).map(([name, { count, took_s: took, rate, latest = [] }]) =>
        element(
          "div",
          { className: "of-product" },
          element("span", {}, `${name} · ${counted(count, "output")}`),
          element("span", { className: "where" }, told(took / count, rate)),
          bars(latest),
          element("span", { className: "where" }, lastOf(latest[latest.length - 1])),
        ),
      ),
    );
  }
}

/** @param {OutputPart} output */
function headingOf({ part, node_hours: hours }) {
  const share = part === undefined ? "" : `: ${Math.round(100 * part)} % of the model's time`;
  const cost = hours ? `, ${showRough(hours)} node-hours` : "";
  return `Output${share}${cost}`;
}

/**
 * @param {number} seconds
 * @param {number | undefined} rate
 */
function told(seconds, rate) {
  return [`${showDuration(seconds)} each`, ...perSecond(rate)].join(", ");
}

/** @param {number | undefined} rate */
function perSecond(rate) {
  return rate ? [`${showBytes(rate)}/s`] : [];
}

/** @param {OutputNow | undefined} one */
function lastOf(one) {
  if (!one) return "";
  const { time, took_s: took = 0, rate, aggregators, data_send: send } = one;
  const parts = [time ? timeLabel(time) : "latest", showDuration(took), ...perSecond(rate)];
  if (aggregators) parts.push(counted(aggregators, "aggregator"));
  if (send !== undefined) parts.push(`data send ${Math.round(100 * send)} %`);
  return parts.join(", ");
}

/** @param {OutputNow[]} latest */
function bars(latest) {
  const most = Math.max(1e-6, ...latest.map((one) => one.took_s ?? 0));
  const width = WIDTH / Math.max(12, latest.length);
  const d = latest.map(({ took_s: took = 0 }, i) => {
    const high = Math.max(1, (HEIGHT * took) / most).toFixed(1);
    return `M${(i * width).toFixed(1)} ${HEIGHT}v-${high}h${(0.85 * width).toFixed(1)}v${high}z`;
  });
  const label = `Seconds of the latest ${counted(latest.length, "output")}, at most ${showDuration(most)}`;
  return drawn(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "draw", role: "img", "aria-label": label },
    drawn("path", { class: "draw", d: d.join("") }),
  );
}
