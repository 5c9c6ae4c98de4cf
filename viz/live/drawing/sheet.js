import { element, set } from "../elements/element.js";
import { drawAround, drawTime, layoutOf, letterOf } from "./draw_surroundings.js";
import { drawWords, measureIn, placeWords } from "./inner_words.js";
import { drawPart, insideOf } from "./plane.js";

/** @import { Lens } from "../wall/lens.js" */
/** @import { Around, Layout } from "./draw_surroundings.js" */
/** @import { CellPixels } from "../values/cell_pixels.js" */
/** @import { Plane } from "./plane.js" */
/** @import { Box, Changed, Sized } from "../types.d.ts" */

const STILL_MS = 150;
/** How long edges of cells are looked for at a time. */
const SLICE_MS = 10;

/** A picture on a canvas, seen through a lens. */
export class Sheet {
  #context;
  #shown = "";
  /** The canvas and what is seen through the lens. */
  #view = "";
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
  /** @type {Plane | null} the picture's plane by its values */
  #plane = null;
  /** @type {CellPixels[]} edges of its cells, held as long as the view stays */
  #cells = [];
  /** Whether the plane is drawn by its values, with all that the picture shows. */
  #isDone = false;
  /** Whether each of its cells then has its true edges. */
  #isSharp = false;
  #isStill = false;
  #isPlaying = false;
  /** @type {number | undefined} */
  #better;
  #settled;
  /** @type {ImageBitmap | OffscreenCanvas | null} */
  bitmap = null;

  /**
   * `settled()` is called as soon as a picture stays.
   * @param {string} className
   * @param {Changed} settled
   */
  constructor(className, settled) {
    this.#settled = settled;
    this.element = element("canvas", { className, role: "img" });
    this.#context = this.element.getContext("2d");
  }

  /**
   * Whether a picture is shown that no longer changes.
   * @param {ImageBitmap | OffscreenCanvas | null} bitmap
   */
  isStill(bitmap) {
    return this.#isStill && bitmap !== null && bitmap === this.bitmap;
  }

  /**
   * Draw a decoded picture; null draws nothing. With `around` only its plane, and the page's own
   * words, axes and colour bar; `plane` is that of the picture, drawn by its values once it stays:
   * neither pictures that are played nor a lens that moves leave time for that.
   * @param {ImageBitmap | OffscreenCanvas | null} bitmap
   * @param {Lens} lens
   * @param {Around | null} [around]
   * @param {Plane | null} [plane]
   * @param {boolean} [isPlaying]
   */
  show(bitmap, lens, around = null, plane = null, isPlaying = false) {
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
    const ready = plane?.isReady;
    const view = [width, height, lens.scale, lens.x, lens.y].join();
    const name = JSON.stringify([view, words, ready, isPlaying]);
    const isSame = this.bitmap === bitmap && this.#plane === plane;
    if (isSame && this.#shown === name) return;
    // Frames may share a picture, but not a time.
    const isKept = this.bitmap === bitmap && this.#around?.when === when && this.#view === view;
    this.#isStill &&= isKept && !isPlaying;
    if (this.#view !== view) this.#cells = [];
    [this.#plane, this.#view, this.#isPlaying] = [plane, view, isPlaying];
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
    const seen = [left, top, across, down].map((at) => (at / ratio).toFixed(2)).join();
    set(this.element, { "data-plane": this.#layout ? seen : "" });
    this.#paint("low");
    clearTimeout(this.#better);
    this.#better = setTimeout(() => this.#settle(), STILL_MS);
  }

  #settle() {
    const before = this.#isStill;
    this.#isStill = !this.#isPlaying;
    if (!this.#isDone) this.#paint("high");
    this.#sharpen(0);
    if (this.#isStill && !before) this.#settled();
  }

  /**
   * Give the cells of a plane that is drawn by its values their true edges, a slice at a time; the
   * next picture ends it.
   * @param {number} until in milliseconds, as `performance.now()` counts
   */
  #sharpen(until) {
    if (!this.#isDone || this.#isSharp) return;
    for (const one of this.#cells) if (until && !one.isFound) one.find(until);
    this.#isSharp = this.#cells.every((one) => one.isFound);
    if (this.#isSharp) this.#paint("high");
    else this.#better = setTimeout(() => this.#sharpen(performance.now() + SLICE_MS), 0);
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
    this.#isDone = false;
    set(this.element, { "data-drawn": "picture" });
    if (!box || !bitmap) return;
    if (layout) this.#paintPlane(context, bitmap, box, layout, quality);
    else drawWhole(context, bitmap, box, quality);
  }

  /**
   * The plane by its values where these are known, else as the picture has it; and its words.
   * @param {CanvasRenderingContext2D} context
   * @param {ImageBitmap | OffscreenCanvas} bitmap
   * @param {Box} box
   * @param {Layout} layout
   * @param {ImageSmoothingQuality} quality
   */
  #paintPlane(context, bitmap, box, { plane: seen, letter }, quality) {
    const [plane, part] = [this.#plane, insideOf(seen)];
    const isStill = this.#isStill && plane !== null;
    const cells = isStill ? plane.paint(context, box, part) : null;
    const isDrawn = cells !== null;
    this.#cells = cells ?? this.#cells; // those of other frames of the grid are the same
    if (!isDrawn) {
      smooth(context, bitmap, box, quality);
      drawPart(context, bitmap, box, part);
    }
    this.#isDone = isDrawn;
    if (!isStill) return; // in passing there is no time for words
    this.#isSharp = isDrawn && this.#cells.every((one) => one.isFound);
    if (isDrawn) set(this.element, { "data-drawn": this.#isSharp ? "values" : "cells" });
    const frame = { ...box, scale: box.width / plane.fields.header.size[0] };
    const measure = measureIn(context, letter);
    drawWords(context, placeWords(plane.words, frame, part, letter, measure, !isDrawn));
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

  /** End what is still under way. */
  close() {
    clearTimeout(this.#better);
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
 * @param {CanvasRenderingContext2D} context
 * @param {ImageBitmap | OffscreenCanvas} bitmap
 * @param {Box} box
 * @param {ImageSmoothingQuality} quality
 */
function drawWhole(context, bitmap, box, quality) {
  smooth(context, bitmap, box, quality);
  context.drawImage(bitmap, box.left, box.top, box.width, box.height);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {ImageBitmap | OffscreenCanvas} bitmap
 * @param {Box} box
 * @param {ImageSmoothingQuality} quality
 */
function smooth(context, bitmap, box, quality) {
  context.imageSmoothingEnabled = box.width < 6 * bitmap.width;
  context.imageSmoothingQuality = quality;
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
