import { element } from "../elements/element.js";

const SAID_MS = 2000;

/**
 * A button that copies the text of an element. Where the browser refuses, the text is selected.
 * @param {() => HTMLElement} of
 */
export function copyButton(of) {
  const button = element("button", { type: "button", className: "small" }, "Copy");
  button.addEventListener("click", async () => {
    const target = of();
    try {
      await navigator.clipboard.writeText(target.textContent ?? "");
      button.textContent = "Copied";
    } catch {
      getSelection()?.selectAllChildren(target);
      button.textContent = "Selected: press Ctrl-C";
    }
    setTimeout(() => {
      button.textContent = "Copy";
    }, SAID_MS);
  });
  return button;
}
