import { element } from "../elements/element.js";

/**
 * A line of a CSV file; a text that a spreadsheet would take for a formula stays text.
 * @param {string[]} cells
 */
export function csvLine(cells) {
  return `${cells.map(quoted).join(",")}\n`;
}

/**
 * A line about a CSV file's content, above its columns, as readers of such files leave it out.
 * @param {string} text
 */
export function csvNote(text) {
  return `# ${text.replace(/\s+/g, " ")}\n`;
}

/** @param {string} text */
function quoted(text) {
  const minus = text.startsWith("-") && text !== "-inf" && Number.isNaN(Number(text));
  const safe = minus || /^[=+@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * Save a file that the page has made.
 * @param {Blob} content
 * @param {string} name
 */
export function saveAs(content, name) {
  const href = URL.createObjectURL(content);
  element("a", { href, download: name, target: "_blank", rel: "noopener" }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
