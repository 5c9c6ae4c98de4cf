import { element } from "./element.js";

/**
 * @typedef {"back" | "on" | "first" | "follow" | "play" | "markBefore" | "markAfter" | "larger"
 *   | "smaller" | "whole" | "left" | "right" | "up" | "down" | "blink" | "fullScreen" | "help"} Act
 */

/**
 * Keys, what they do for people, and the name of the act.
 * @type {[keys: string[], sign: string, text: string, act: Act][]}
 */
const KEYS = [
  [["ArrowLeft"], "←", "one frame back (with shift: ten)", "back"],
  [["ArrowRight"], "→", "one frame on (with shift: ten)", "on"],
  [["Home"], "Home", "the first frame", "first"],
  [["End", "l", "L"], "End, L", "the newest, and each newer one as it comes", "follow"],
  [[" "], "Space", "play, pause", "play"],
  [["["], "[", "the alarm before", "markBefore"],
  [["]"], "]", "the next alarm", "markAfter"],
  [["+", "="], "+", "magnify", "larger"],
  [["-"], "−", "make smaller", "smaller"],
  [["0"], "0", "the whole picture", "whole"],
  [["a", "A"], "A D", "look to the left, to the right", "left"],
  [["d", "D"], "", "", "right"],
  [["w", "W"], "W S", "look up, down", "up"],
  [["s", "S"], "", "", "down"],
  [["b", "B"], "B", "the other picture, in blink mode", "blink"],
  [["f", "F"], "F", "full screen", "fullScreen"],
  [["?"], "?", "this list", "help"],
];
const TYPED = "input, textarea, select, dialog, [contenteditable]";

/**
 * The act that a key event asks for, or null when the key belongs to something else.
 * @param {KeyboardEvent} event
 * @returns {Act | null}
 */
export function actOf(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return null;
  const target = event.composedPath()[0];
  if (target instanceof Element) {
    if (target.closest(TYPED)) return null;
    if (event.key === " " && target.closest("button, a")) return null;
  }
  return KEYS.find(([keys]) => keys.includes(event.key))?.[3] ?? null;
}

/** A dialog that lists the keys. */
export function keyHelp() {
  return element(
    "dialog",
    { "aria-labelledby": "keys-title" },
    element("h2", { id: "keys-title" }, "Keys"),
    element(
      "dl",
      { className: "keys" },
      ...KEYS.filter(([, sign]) => sign).flatMap(([, sign, text]) => [
        element("dt", {}, element("kbd", {}, sign)),
        element("dd", {}, text),
      ]),
    ),
    element(
      "p",
      {},
      "Wheel or pinch magnifies all pictures, drag moves them, a double click shows " +
        "the whole again.",
    ),
    element("form", { method: "dialog" }, element("button", { autofocus: true }, "Close")),
  );
}
