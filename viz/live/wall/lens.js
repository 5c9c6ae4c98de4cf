/** @import { Box, Changed } from "../types.d.ts" */

const MOST = 32;
const WHEEL = 0.0016;

/**
 * The visible part of a picture, shared by all panes: magnification, and the point of the picture
 * (from 0 to 1 in x and y) that lies in the middle.
 */
export class Lens {
  scale = 1;
  x = 0.5;
  y = 0.5;
  #changed;

  /** @param {Changed} changed */
  constructor(changed) {
    this.#changed = changed;
  }

  reset() {
    Object.assign(this, { scale: 1, x: 0.5, y: 0.5 });
    this.#changed();
  }

  /**
   * Magnify by a factor; the point (u, v) of the picture stays in its place.
   * @param {number} factor
   * @param {number} [u]
   * @param {number} [v]
   */
  magnify(factor, u = this.x, v = this.y) {
    const scale = Math.min(MOST, Math.max(1, this.scale * factor));
    const kept = this.scale / scale;
    this.x = u + (this.x - u) * kept;
    this.y = v + (this.y - v) * kept;
    this.scale = scale;
    this.#settle();
  }

  /**
   * Shift by parts of the picture.
   * @param {number} du
   * @param {number} dv
   */
  shift(du, dv) {
    this.x += du;
    this.y += dv;
    this.#settle();
  }

  #settle() {
    const edge = 0.5 / this.scale;
    this.x = Math.min(1 - edge, Math.max(edge, this.x));
    this.y = Math.min(1 - edge, Math.max(edge, this.y));
    this.#changed();
  }

  /**
   * Let wheel, drag and pinch on an element move it; `frame()` returns the box of the whole picture
   * on the screen, {left, top, width, height}, at the current magnification.
   * @param {HTMLElement} target
   * @param {() => Box} frame
   */
  attach(target, frame) {
    /** @type {Map<number, PointerEvent>} */
    const fingers = new Map();
    target.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && scrolls(target)) return; // the wheel scrolls the page
        event.preventDefault();
        const [u, v] = pointOf(event, frame());
        this.magnify(Math.exp(-event.deltaY * WHEEL * (event.ctrlKey ? 4 : 1)), u, v);
      },
      { passive: false },
    );
    target.addEventListener("dblclick", () => this.reset());
    target.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.shiftKey) return; // with shift a line is drawn
      target.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, event);
    });
    target.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      const other = [...fingers.values()].find((one) => one.pointerId !== event.pointerId);
      fingers.set(event.pointerId, event);
      const shown = frame();
      if (other) {
        const [u, v] = pointOf(other, shown);
        this.magnify(distance(event, other) / (distance(before, other) || 1), u, v);
      } else if (this.scale > 1) {
        this.shift(
          (before.clientX - event.clientX) / shown.width,
          (before.clientY - event.clientY) / shown.height,
        );
      }
    });
    for (const end of /** @type {const} */ (["pointerup", "pointercancel"])) {
      target.addEventListener(end, (event) => fingers.delete(event.pointerId));
    }
  }
}

/**
 * @param {MouseEvent} event
 * @param {Box} shown
 * @returns {[u: number, v: number]}
 */
function pointOf(event, shown) {
  return [(event.clientX - shown.left) / shown.width, (event.clientY - shown.top) / shown.height];
}

/**
 * @param {MouseEvent} a
 * @param {MouseEvent} b
 */
function distance(a, b) {
  return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
}

/**
 * Whether something around an element scrolls, so that the wheel is needed for that.
 * @param {Element} target
 */
function scrolls(target) {
  const root = target.getRootNode();
  const around = root instanceof ShadowRoot ? root.host : null;
  return [around, document.scrollingElement].some(
    (box) => box !== null && box.scrollHeight > box.clientHeight + 1,
  );
}
