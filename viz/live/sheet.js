import { element } from "./element.js";

const STILL_MS = 150;

/** A picture on a canvas, seen through a lens. */
export class Sheet {
  #context;
  #shown = "";
  #box = null;
  #better = 0;
  bitmap = null;

  constructor(className) {
    this.element = element("canvas", { className, role: "img" });
    this.#context = this.element.getContext("2d");
  }

  /** Draw a decoded picture, or with null nothing. */
  show(bitmap, lens) {
    const { clientWidth, clientHeight } = this.element;
    const ratio = window.devicePixelRatio || 1;
    const width = Math.round(clientWidth * ratio);
    const height = Math.round(clientHeight * ratio);
    // A whole picture leaves the finger that moves over it to the page.
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

  /** Quick and coarse while pictures follow each other, fine as soon as one stays. */
  #paint(quality) {
    const { width, height } = this.element;
    if (this.#box && !this.bitmap.width) return; // given back meanwhile: what was painted stays
    this.#context.clearRect(0, 0, width, height);
    if (!this.#box) return;
    const { left, top, width: w, height: h } = this.#box;
    this.#context.imageSmoothingEnabled = w < 6 * this.bitmap.width;
    this.#context.imageSmoothingQuality = quality;
    this.#context.drawImage(this.bitmap, left, top, w, h);
  }

  /** Where the whole picture lies on the screen, also what is beyond the edges. */
  frame(lens) {
    const box = this.element.getBoundingClientRect();
    const inside = fitted(this.bitmap ?? { width: 1, height: 1 }, box.width, box.height, lens);
    return { ...inside, left: box.left + inside.left, top: box.top + inside.top };
  }
}

function fitted(picture, width, height, lens) {
  const fit = Math.min(width / picture.width, height / picture.height) * lens.scale;
  const [w, h] = [picture.width * fit, picture.height * fit];
  // A side with room to spare is centred, the other one follows the lens.
  const left = w <= width ? (width - w) / 2 : clamp(width / 2 - lens.x * w, width - w, 0);
  const top = h <= height ? (height - h) / 2 : clamp(height / 2 - lens.y * h, height - h, 0);
  return { left, top, width: w, height: h };
}

function clamp(value, low, high) {
  return Math.min(high, Math.max(low, value));
}
