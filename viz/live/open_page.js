import { FileSource } from "./file_source.js";
import { HttpSource } from "./http_source.js";
import { mount } from "./mount.js";

/**
 * Fill a document with the run whose products folder it lies in.
 * @param {Document} page
 */
export function openPage(page) {
  const served = page.location.protocol.startsWith("http");
  const view = mount(page.body, served ? new HttpSource() : new FileSource(), (status, state) => {
    if (status) page.title = `${state} · ${status.title || status.run}`;
  });
  page.addEventListener("keydown", (event) => {
    if (event.target === page.body) view.key(event);
  });
}
