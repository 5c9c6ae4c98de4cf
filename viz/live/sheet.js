import { element } from "./element.js";

/** @import { Lens } from "./lens.js" */
/** @import { Box, Sized } from "./types.d.ts" */

const STILL_MS = 150;

/** A picture on a canvas, seen through a lens. */
export class Sheet {
  #context;
  #shown = "";
  /** @type {Box | null} */
  #box = null;
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
   * Draw a decoded picture; null draws nothing.
   * @param {ImageBitmap | OffscreenCanvas | null} bitmap
   * @param {Lens} lens
   */
  show(bitmap, lens) {
    const { clientWidth, clientHeight } = this.element;
    const ratio = window.devicePixelRatio || 1;
    const width = Math.round(clientWidth * ratio);
    const height = Math.round(clientHeight * ratio);
    // Over a picture that is shown whole a finger scrolls the page.
    this.element.style.touchAction = lens.scale > 1 ? "none" : "pan-y";
    const name = [width, height, lens.scale, lens.x, lens.y].join();
    if (this.bitmap === bitmap && this.#shown === name) return;
    if (this.element.width !== width) this.element.width = width;
    if (this.element.height !== height) this.element.height = height;
    this.bitmap = bitmap;
    this.#shown = name;
    this.#box = bitmap && width && height ? fitted(bitmap, width, height, lens) : null;
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
    context.clearRect(0, 0, this.element.width, this.element.height);
    if (!box || !bitmap) return;
    context.imageSmoothingEnabled = box.width < 6 * bitmap.width;
    context.imageSmoothingQuality = quality;
    context.drawImage(bitmap, box.left, box.top, box.width, box.height);
  }

  /**
   * The box of the whole picture on the screen, including what lies beyond the edges.
   * @param {Lens} lens
   * @returns {Box}
   */
  frame(lens) {
    const box = this.element.getBoundingClientRect();
    const inside = fitted(this.bitmap ?? { width: 1, height: 1 }, box.width, box.height, lens);
    return { ...inside, left: box.left + inside.left, top: box.top + inside.top };
  }

  /**
   * The pixels of a picture of that size that are seen: left, top, right, bottom.
   * @param {Lens} lens
   * @param {number[]} size
   */
  window(lens, [width, height]) {
    const [frame, seen] = [this.frame(lens), this.element.getBoundingClientRect()];
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
