import { element, set } from "./element.js";
import { drawAround, drawTime, layoutOf, letterOf } from "./surround.js";

/** @import { Lens } from "./lens.js" */
/** @import { Around, Layout } from "./surround.js" */
/** @import { Box, Sized } from "./types.d.ts" */

const STILL_MS = 150;

/** A picture on a canvas, seen through a lens. */
export class Sheet {
  #context;
  #shown = "";
  /** @type {Box | null} */
  #box = null;
  /** @type {Around | null} what the page draws around the plane; null where the picture is whole */
  #around = null;
  /** @type {Layout | null} */
  #layout = null;
  #ink = "";
  /** The letters around the plane, in pixels of the page. */
  #letter = 11;
  /** What is drawn around the plane. */
  #drawnFor = "";
  /** @type {object | undefined} */
  #drawnRamp;
  /** @type {number | undefined} */
  #better;
  /** @type {ImageBitmap | OffscreenCanvas | null} */
  bitmap = null;

  /** @param {string} className */
  constructor(className) {
    this.element = element("canvas", { className, role: "img" });
    this.#context = this.element.getContext("2d");
  }

  /**
   * Draw a decoded picture; null draws nothing. With `around` only its plane, and the page's own
   * words, axes and colour bar.
   * @param {ImageBitmap | OffscreenCanvas | null} bitmap
   * @param {Lens} lens
   * @param {Around | null} [around]
   */
  show(bitmap, lens, around = null) {
    const { clientWidth, clientHeight } = this.element;
    const ratio = window.devicePixelRatio || 1;
    const width = Math.round(clientWidth * ratio);
    const height = Math.round(clientHeight * ratio);
    // Read before anything of the page is changed: to read it later computes all styles anew.
    const style = around && getComputedStyle(this.element);
    this.#ink = style ? style.color : "";
    if (style) this.#letter = letterOf(style);
    // Over a picture that is shown whole a finger scrolls the page.
    this.element.style.touchAction = lens.scale > 1 ? "none" : "pan-y";
    const { title, subtitle, when, legend, bar } = around ?? {};
    const words = around && [title, subtitle, when, legend, bar?.limits, this.#ink, this.#letter];
    const name = JSON.stringify([width, height, lens.scale, lens.x, lens.y, words]);
    if (this.bitmap === bitmap && this.#shown === name) return;
    const { element } = this;
    if (element.width !== width || element.height !== height) {
      [element.width, element.height] = [width, height];
      this.#drawnFor = ""; // a new size empties the canvas
    }
    this.bitmap = bitmap;
    this.#shown = name;
    this.#around = around;
    const letter = this.#letter * ratio;
    this.#layout = around && width && height ? layoutOf(around, width, height, lens, letter) : null;
    const whole = bitmap && width && height ? fitted(bitmap, width, height, lens) : null;
    this.#box = bitmap && this.#layout ? this.#layout.frame : whole;
    const { left = 0, top = 0, width: across = 0, height: down = 0 } = this.#layout?.plane ?? {};
    const plane = [left, top, across, down].map((at) => (at / ratio).toFixed(2)).join();
    set(this.element, { "data-plane": this.#layout ? plane : "" });
    this.#paint("low");
    clearTimeout(this.#better);
    this.#better = setTimeout(() => this.#paint("high"), STILL_MS);
  }

  /**
   * Fast and coarse while pictures change, fine as soon as one stays.
   * @param {ImageSmoothingQuality} quality
   */
  #paint(quality) {
    const [context, box, bitmap] = [this.#context, this.#box, this.bitmap];
    if (!context || (box && !bitmap?.width)) return; // released: the drawn picture stays
    const [layout, around] = [this.#layout, this.#around];
    if (layout && around && box) {
      if (quality === "low") this.#prepare(context, layout, around); // the same a little later
    } else {
      context.clearRect(0, 0, this.element.width, this.element.height);
      this.#drawnFor = "";
    }
    if (!box || !bitmap) return;
    context.imageSmoothingEnabled = box.width < 6 * bitmap.width;
    context.imageSmoothingQuality = quality;
    if (layout) drawPart(context, bitmap, box, layout.plane);
    else context.drawImage(bitmap, box.left, box.top, box.width, box.height);
  }

  /**
   * Draw what is around the plane, where it has changed; of the rest only the time does.
   * @param {CanvasRenderingContext2D} context
   * @param {Layout} layout
   * @param {Around} around
   */
  #prepare(context, layout, around) {
    const { title, subtitle, legend, bar, beyond, fields } = around;
    const [{ width, height }, ink] = [this.element, this.#ink];
    const { limits, units, log } = bar ?? {};
    const words = [title, subtitle, legend, beyond, limits, units, log, ink];
    const name = JSON.stringify([width, height, layout, fields.key, words]);
    if (this.#drawnFor !== name || this.#drawnRamp !== bar?.ramp) {
      context.clearRect(0, 0, width, height);
      drawAround(context, around, layout, ink);
      [this.#drawnFor, this.#drawnRamp] = [name, bar?.ramp];
    }
    drawTime(context, around, layout, ink);
  }

  /** The plane on the screen, where the page draws what is around it, else all of the sheet. */
  get plane() {
    const box = this.element.getBoundingClientRect();
    if (!this.#layout) return box;
    const { left, top, width, height } = this.#layout.plane;
    const ratio = this.element.width / box.width || 1;
    return new DOMRect(
      box.left + left / ratio,
      box.top + top / ratio,
      width / ratio,
      height / ratio,
    );
  }

  /**
   * The box of the whole picture on the screen, including what lies beyond the edges.
   * @param {Lens} lens
   * @returns {Box}
   */
  frame(lens) {
    const box = this.element.getBoundingClientRect();
    const picture = this.bitmap ?? { width: 1, height: 1 };
    const inside = this.#around
      ? layoutOf(this.#around, box.width, box.height, lens, this.#letter).frame
      : fitted(picture, box.width, box.height, lens);
    return { ...inside, left: box.left + inside.left, top: box.top + inside.top };
  }

  /**
   * The pixels of a picture of that size that are seen: left, top, right, bottom.
   * @param {Lens} lens
   * @param {number[]} size
   */
  window(lens, [width, height]) {
    const [frame, seen] = [this.frame(lens), this.plane];
    const [across, down] = [width / frame.width, height / frame.height];
    return [
      Math.max(0, (seen.left - frame.left) * across),
      Math.max(0, (seen.top - frame.top) * down),
      Math.min(width, (seen.right - frame.left) * across),
      Math.min(height, (seen.bottom - frame.top) * down),
    ];
  }
}

/**
 * Draw what of a picture lies in the plane. Only its own pixels are read: to clip all of it at
 * edges between pixels takes more time than to draw it.
 * @param {CanvasRenderingContext2D} context
 * @param {ImageBitmap | OffscreenCanvas} bitmap
 * @param {Box} box of the whole picture on the canvas
 * @param {Box} plane
 */
function drawPart(context, bitmap, box, plane) {
  const [left, top] = [Math.ceil(plane.left + 1), Math.ceil(plane.top + 1)];
  const width = Math.floor(plane.left + plane.width - 1) - left;
  const height = Math.floor(plane.top + plane.height - 1) - top;
  if (width < 1 || height < 1) return;
  const [across, down] = [bitmap.width / box.width, bitmap.height / box.height];
  const part = [(left - box.left) * across, (top - box.top) * down, width * across, height * down];
  context.drawImage(bitmap, part[0], part[1], part[2], part[3], left, top, width, height);
}

/**
 * @param {Sized} picture
 * @param {number} width
 * @param {number} height
 * @param {Lens} lens
 * @returns {Box}
 */
function fitted(picture, width, height, lens) {
  const fit = Math.min(width / picture.width, height / picture.height) * lens.scale;
  const [w, h] = [picture.width * fit, picture.height * fit];
  // A side with room to spare is centred, the other one follows the lens.
  const left = w <= width ? (width - w) / 2 : clamp(width / 2 - lens.x * w, width - w, 0);
  const top = h <= height ? (height - h) / 2 : clamp(height / 2 - lens.y * h, height - h, 0);
  return { left, top, width: w, height: h };
}

/**
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
function clamp(value, low, high) {
  return Math.min(high, Math.max(low, value));
}
