import { element } from "./element.js";
import { icon } from "./icon.js";

/** @import { Changed } from "../types.d.ts" */

const KEY = "burstlens-theme";

/**
 * A button that switches between light and dark; the system's choice is the default. `changed()`
 * asks for a new drawing.
 * @param {HTMLElement} root
 * @param {Changed} changed
 */
export function themeButton(root, changed) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let chosen = remembered();
  const apply = () => {
    if (chosen) root.dataset.theme = chosen;
  };
  apply();
  follow(dark, new WeakRef(changed));
  return element(
    "button",
    {
      type: "button",
      className: "sign",
      "aria-label": "Light or dark",
      title: "Light or dark",
      onclick: () => {
        // light or dark where a notebook has set it
        const scheme = getComputedStyle(root).colorScheme;
        const system = dark.matches ? "dark" : "light";
        const now = chosen ?? (scheme.includes(" ") ? system : scheme);
        chosen = now === "dark" ? "light" : "dark";
        apply();
        remember(chosen);
        changed();
      },
    },
    icon("theme"),
  );
}

/**
 * The system's choice outlives a view, which it must not hold.
 * @param {MediaQueryList} system
 * @param {WeakRef<Changed>} changed
 */
function follow(system, changed) {
  system.addEventListener("change", () => changed.deref()?.());
}

// Storage may be forbidden, under file:// or in a sandboxed frame.
function remembered() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** @param {string} theme */
function remember(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    return;
  }
}
