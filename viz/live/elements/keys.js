import { element } from "./element.js";

/**
 * @typedef {"back" | "on" | "first" | "follow" | "play" | "markBefore" | "markAfter" | "larger"
 *   | "smaller" | "whole" | "left" | "right" | "up" | "down" | "blink" | "details" | "share"
 *   | "notify" | "fullScreen" | "help"} Act
 */

/**
 * Keys, their label, what they do, and the name of the action; null: a picture's own (probe.js).
 * @type {[keys: string[], sign: string, text: string, act: Act | null][]}
 */
const KEYS = [
  [["ArrowLeft"], "←", "one frame back (with shift: ten)", "back"],
  [["ArrowRight"], "→", "one frame on (with shift: ten)", "on"],
  [["Home"], "Home", "the first frame", "first"],
  [["End", "l", "L"], "End, L", "the newest, and each newer one as it comes", "follow"],
  [[" "], "Space", "play, pause", "play"],
  [["["], "[", "the previous alarm", "markBefore"],
  [["]"], "]", "the next alarm", "markAfter"],
  [["+", "="], "+", "magnify", "larger"],
  [["-"], "−", "make smaller", "smaller"],
  [["0"], "0", "the whole picture", "whole"],
  [["a", "A"], "A D", "move left, right in a magnified picture", "left"],
  [["d", "D"], "", "", "right"],
  [["w", "W"], "W S", "look up, down", "up"],
  [["s", "S"], "", "", "down"],
  [
    [],
    "Alt ← → ↑ ↓",
    "move the cursor in the picture that has the focus (with shift: further)",
    null,
  ],
  [[], "Enter", "keep the place at the cursor", null],
  [["b", "B"], "B", "the other picture, in blink mode", "blink"],
  [["g", "G"], "G", "log, recipe and times beside the pictures", "details"],
  [["c", "C"], "C", "the link to this view; pictures and files to copy or save", "share"],
  [["n", "N"], "N", "notify when the run ends or a guard trips, yes or no", "notify"],
  [["f", "F"], "F", "full screen", "fullScreen"],
  [["?"], "?", "this list", "help"],
];
const TYPED = "input, textarea, select, dialog, [contenteditable]";

/**
 * The action of a key event, or null when the key belongs to something else.
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
        "the whole picture. A click keeps a place, a drag with shift draws a profile.",
    ),
    element("form", { method: "dialog" }, element("button", { autofocus: true }, "Close")),
  );
}
