import { drawn, element } from "./element.js";

/** @typedef {keyof typeof SHAPES} Sign */

/** Outlines in a square of 16. */
const SHAPES = {
  first: "M4 3.5v9M12 3.5L7.5 8l4.5 4.5",
  back: "M10 3.5L5.5 8l4.5 4.5",
  play: "M4.5 3l8 5-8 5z",
  pause: "M5 3.5v9M11 3.5v9",
  on: "M6 3.5L10.5 8 6 12.5",
  theme: "M8 2.5a5.5 5.5 0 1 0 0 11z", // its other half is an outline
  whole: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  bell: "M3 12h10l-1.5-2V7a3.5 3.5 0 0 0-7 0v3zM6.7 14h2.6",
  share: "M8 10V2.5M5 5l3-3 3 3M3 8v5.5h10V8",
  help: "M5.5 6a2.5 2.5 0 1 1 3.6 2.2C8.3 8.7 8 9.2 8 10M8 12.6v.4",
};
const FILLED = new Set(["play", "theme"]);

/**
 * An icon for a button; the button's own label says what it means.
 * @param {Sign} name
 */
export function icon(name) {
  return drawn(
    "svg",
    { viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" },
    drawn("path", { d: SHAPES[name], class: FILLED.has(name) ? "filled" : "" }),
    ...(name === "theme" ? [drawn("path", { d: "M8 2.5a5.5 5.5 0 0 1 0 11" })] : []),
  );
}

/**
 * A button that shows an icon alone.
 * @param {Sign} name
 * @param {string} label
 * @param {() => void} does
 */
export function signButton(name, label, does) {
  return element(
    "button",
    { type: "button", className: "sign", "aria-label": label, title: label, onclick: does },
    icon(name),
  );
}
