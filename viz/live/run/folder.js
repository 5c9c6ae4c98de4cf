import { element } from "../elements/element.js";
import { attachedRows } from "./attached.js";

/** @import { RunStatus } from "../status.d.ts" */

/** The folder that a run looks at, what it was taken for, and what is observed of its model. */
export class Folder {
  #shown = "[]";
  element = element("dl", { className: "folder", "aria-label": "The folder", hidden: true });

  /** @param {RunStatus | null} status */
  show(status) {
    const rows = attachedRows(status);
    const name = JSON.stringify(rows);
    if (name === this.#shown) return;
    this.#shown = name;
    this.element.replaceChildren(
      ...rows.map(([label, text]) =>
        element("div", {}, element("dt", {}, label), element("dd", {}, text)),
      ),
    );
    this.element.hidden = rows.length === 0;
  }
}
