import { mount } from "./mount.js";
import { titleOf } from "./run/word.js";
import { Address } from "./sharing/address.js";
import { FileSource } from "./sources/file_source.js";
import { HttpSource } from "./sources/http_source.js";

/**
 * Fill a document with the run whose products folder it lies in.
 * @param {Document} page
 */
export function openPage(page) {
  const served = page.location.protocol.startsWith("http");
  const source = served ? new HttpSource() : new FileSource();
  const view = mount(
    page.body,
    source,
    (status, state) => {
      if (status) page.title = titleOf(status, state);
    },
    new Address(),
  );
  page.addEventListener("keydown", (event) => {
    if (event.target === page.body) view.key(event);
  });
}
