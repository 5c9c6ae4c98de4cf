import { modelTimeAxis, valueAxis } from "../elements/axis.js";
import { showRough } from "../elements/digits.js";
import { element } from "../elements/element.js";
import { Plot } from "../elements/plot.js";
import { showDuration } from "../elements/quantity.js";
import { timeSeconds } from "../elements/valid_time.js";
import { inflated } from "../sources/values_file.js";
import { distance } from "../values/place.js";
import { newestWithValues } from "../values/series.js";

/** @import { Series } from "../time/album.js" */
/** @import { Fields } from "../values/fields.js" */
/** @import { Pin } from "./pins.js" */
/** @import { IndexLine, Place, TracesHeader, ViewState } from "../types.d.ts" */

const MAGIC = 0x31544c42; // "BLT1", little-endian
const MOST_BYTES = 2 ** 26;
const HOLE = -32768;
const AGAIN_MS = 2000;

/**
 * How far a station may lie from a place, in m; whether places are in degrees; the metres of x and y.
 * @typedef {{ most: number, onEarth: boolean, unit: number }} Reach
 */
/** @typedef {{ crc32?: number, again: number, file?: TracesFile, version: number, line?: IndexLine }} Held */
/** @typedef {{ pin: Pin, file: TracesFile, station: number, far: number }} Near */

/** What stations have recorded at kept places: a plot per component, one curve per place. */
export class Traces {
  element = element("div");
  note = "";
  /** @type {Map<string, Held>} by series */
  #held = new Map();
  /** @type {WeakMap<Pin, Reach>} */
  #reach = new WeakMap();
  /** @type {Near[]} */
  #near = [];
  #drawnFor = "";
  /** @type {[Plot, TracesFile][]} */
  #plots = [];

  /**
   * `shown` are the series of the pictures that are seen.
   * @param {ViewState} state
   * @param {Series[]} shown
   */
  show(state, shown) {
    const { album, fields, pins, player } = state;
    const time = player.time ?? "";
    for (const pin of pins.list) {
      for (const series of shown) {
        const line = series.at(time);
        const held = line && fields.get(line);
        const reach = held && reachOf(held, pin.place);
        if (reach) this.#reach.set(pin, reach);
      }
    }
    const files = [...album.series.values()].map((series) => this.#newest(series, state));
    this.#near = files.flatMap((file) => pins.list.flatMap((pin) => this.#nearest(pin, file)));
    const key = this.#near
      .map(({ pin, file, station }) => [
        pin.name,
        file.header.product,
        file.header.picture,
        station,
      ])
      .join();
    if (key !== this.#drawnFor) this.#draw();
    this.#drawnFor = key;
    for (const [plot, { header }] of this.#plots) {
      plot.point(timeSeconds(time) - (header.reference ? timeSeconds(header.reference) : 0));
    }
  }

  /**
   * The newest traces of a series, as soon as they are read.
   * @param {Series} series
   * @param {ViewState} state
   */
  #newest(series, { album, source }) {
    const held = this.#held.get(series.id) ?? { again: 0, version: -1 };
    this.#held.set(series.id, held);
    if (held.version !== album.version) held.line = newestWithValues(series, "traces");
    held.version = album.version;
    const { line } = held;
    if (!line) return undefined;
    if (held.crc32 !== line.crc32 && held.again < performance.now()) {
      held.again = Infinity;
      source
        .values({ ...line, values: line.traces })
        .then((payload) => read(payload, line))
        .then((file) => Object.assign(held, { file, crc32: line.crc32 }))
        .catch(() => {}) // tried again
        .finally(() => {
          held.again = performance.now() + AGAIN_MS;
        });
    }
    return held.file;
  }

  /**
   * @param {Pin} pin
   * @param {TracesFile | undefined} file
   * @returns {Near[]}
   */
  #nearest(pin, file) {
    const reach = this.#reach.get(pin);
    if (!reach || !file) return [];
    const { stations, scales, recorded } = file.header;
    const unit = recorded ? 1 : reach.unit;
    const { x = NaN, y = NaN } = pin.place;
    let [station, least] = [-1, reach.most];
    stations.forEach((one, at) => {
      const far = reach.onEarth
        ? one.lat == null
          ? NaN
          : distance(pin.place, one) * 1000
        : Math.hypot(
            x * reach.unit - (one.x ?? NaN) * unit,
            y * reach.unit - (one.y ?? NaN) * unit,
          );
      if (far <= least && scales[0][at] !== null) [station, least] = [at, far];
    });
    return station < 0 ? [] : [{ pin, file, station, far: least }];
  }

  #draw() {
    this.note = "";
    this.#plots = [];
    this.element.replaceChildren();
    for (const file of new Set(this.#near.map((one) => one.file))) {
      const { components, each, printed, recorded, step_s: step, stations } = file.header;
      const here = this.#near.filter((one) => one.file === file);
      const names = [...new Set(here.map(({ station }) => stations[station].name))];
      const every = step < 1 ? `${Number((1000 * step).toPrecision(3))} ms` : showDuration(step);
      const title = `Station${names.length > 1 ? "s" : ""} ${names.join(", ")}`;
      const how = `${recorded ? "recorded" : "sampled"} every ${every}`;
      this.element.append(element("p", { className: "station" }, `${title}, ${how}`));
      if (each > 1) this.note = ` Of each ${each} samples the smallest and the largest are drawn.`;
      components.forEach((component, number) => {
        const lists = here.map(({ station }) => file.values(number, station));
        const plot = new Plot(
          component.title || component.name,
          here.map((_, at) => `pin-${at}`),
          { gaps: true },
        );
        for (const [at, { pin }] of here.entries()) plot.colour(at, pin.colour, "");
        const known = lists.flat().filter(Number.isFinite);
        plot.show([[printed, ""]], file.x, valueAxis(known), file.at, lists);
        this.#plots.push([plot, file]);
        this.element.append(plot.element);
      });
    }
  }

  /**
   * The stations near a place, for people; "" where there are none.
   * @param {Pin} pin
   */
  near(pin) {
    return this.#near
      .filter((one) => one.pin === pin)
      .map(({ file, station, far }) => {
        const away = far < 1000 ? `${Math.round(far)} m` : `${showRough(far / 1000)} km`;
        return ` · station ${file.header.stations[station].name}, ${away} away`;
      })
      .join("");
  }

  /**
   * Their samples as rows of a table with a column per place: product and component, units, stream,
   * station, time in s.
   * @param {Pin[]} pins
   */
  rows(pins) {
    return this.#near.flatMap(({ pin, file, station }) =>
      file.header.components.flatMap(({ name }, component) =>
        file
          .values(component, station)
          .map((value, at) => [
            `${file.header.product} ${name}`,
            file.header.units,
            file.header.stream,
            file.header.stations[station].name,
            `${+file.times[at].toPrecision(9)}`,
            ...pins.map((one) => (one === pin && Number.isFinite(value) ? `${value}` : "")),
          ]),
      ),
    );
  }
}

/** The traces beside one picture. */
class TracesFile {
  #bytes;
  /** @type {Map<number, number[]>} */
  #values = new Map();

  /**
   * @param {TracesHeader} header
   * @param {Uint8Array<ArrayBuffer>} bytes
   */
  constructor(header, bytes) {
    const { points, each, first, step } = header;
    this.header = header;
    this.width = each > 1 ? 2 * points : points;
    const odd = step ? 0 : 8 * points;
    this.#bytes = bytes.subarray(odd);
    const from = new Float64Array(bytes.buffer, 0, odd / 8);
    this.times = Array.from({ length: this.width }, (_, at) => {
      const point = each > 1 ? at >> 1 : at;
      return odd ? from[point] : first + step * each * point;
    });
    const { x, at } = modelTimeAxis(this.times.map((time) => `t${time}`));
    this.x = x;
    this.at = at;
  }

  /**
   * The values of a component at a station, against `times`; NaN in holes.
   * @param {number} component
   * @param {number} station
   */
  values(component, station) {
    const { scales, stations } = this.header;
    const number = component * stations.length + station;
    const all = scales.flat();
    let values = this.#values.get(number);
    if (!values) {
      const [bytes, scale] = [this.#bytes, all[number] ?? 0];
      const low = 2 * this.width * all.slice(0, number).filter((one) => one !== null).length;
      const high = low + this.width;
      let code = 0;
      values = this.times.map((_, at) => {
        const folded = bytes[low + at] | (bytes[high + at] << 8);
        code = ((code + ((folded >>> 1) ^ -(folded & 1))) << 16) >> 16;
        return code === HOLE ? NaN : code * scale;
      });
      this.#values.set(number, values);
    }
    return values;
  }
}

/**
 * Rejects where the payload does not hold the traces of that line's picture.
 * @param {Uint8Array<ArrayBuffer>} payload
 * @param {IndexLine} line
 */
async function read(payload, line) {
  const view = new DataView(payload.buffer, payload.byteOffset);
  if (view.getUint32(0, true) !== MAGIC) throw new Error("no traces");
  const begin = 8 + view.getUint32(4, true);
  const header = JSON.parse(new TextDecoder().decode(payload.subarray(8, begin)));
  if (header.format !== 1 || header.picture !== line.crc32) throw new Error("other traces");
  const { components, points, each, step, scales, stations } = header;
  const shaped =
    components.length > 0 &&
    scales.length === components.length &&
    scales.every((/** @type {unknown[]} */ row) => row.length === stations.length) &&
    [points, each].every((one) => Number.isInteger(one) && one > 0);
  if (!shaped) throw new Error("no traces");
  const kept = scales.flat().filter((/** @type {number | null} */ one) => one !== null).length;
  const size = (step ? 0 : 8 * points) + (each > 1 ? 4 : 2) * points * kept;
  if (!(size <= MOST_BYTES)) throw new Error("traces larger than this page reads");
  return new TracesFile(header, await inflated(payload.subarray(begin), size));
}

/**
 * One step of the model's own grid at a place of a picture, or null outside and off maps.
 * @param {Fields} fields
 * @param {Place} place
 * @returns {Reach | null}
 */
function reachOf({ grids, header }, place) {
  const at = grids[0].coordinates(place);
  for (let number = grids.length - 1; number >= 0; number -= 1) {
    const grid = grids[number];
    const { x } = grid.facts;
    const point = grid.point(place, at);
    if (point < 0 || grid.isSection) continue;
    const placeOf = (/** @type {number} */ one) => {
      const to = grid.of(one);
      return to ? grid.place(...to) : {};
    };
    const steps = [point % x.n ? -1 : 1, point < x.n ? x.n : -x.n]
      .map((by) => distance(placeOf(point), placeOf(point + by)))
      .filter((one) => one > 0);
    const unit = x.units === "km" ? 1000 : 1;
    const most = (Math.max(...steps) / header.fields[number].stride) * (grid.onEarth ? 1000 : unit);
    if (most > 0 && most < Infinity) return { most, onEarth: grid.onEarth, unit };
  }
  return null;
}
