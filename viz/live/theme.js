import { element } from "./element.js";
import { icon } from "./icon.js";

const KEY = "burstlens-theme";

/**
 * A button that switches between light and dark; the system's choice is the default.
 * @param {HTMLElement} root
 */
export function themeButton(root) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let chosen = remembered();
  const apply = () => {
    if (chosen) root.dataset.theme = chosen;
  };
  apply();
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
      },
    },
    icon("theme"),
  );
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
