import { seriesId } from "./album.js";
import { element, say } from "./element.js";
import { showBytes } from "./quantity.js";
import { timeLabel } from "./valid_time.js";

/** @import { Address } from "./address.js" */
/** @import { Series } from "./album.js" */
/** @import { IndexLine, ViewState } from "./types.d.ts" */

const NO_PICTURE = "This browser does not let this page copy pictures. Save it instead.";
const NOTES = {
  http: "It opens this view for everyone who may use this server.",
  file: "It opens this view wherever this folder has the same path.",
  notebook: "A view in a notebook has no link. This command shows the run under one:",
};

/** The dialog with the link to the view, and with the pictures and files of the shown time. */
export class Share {
  #address;
  #field = element("input", {
    type: "text",
    readOnly: true,
    "aria-label": "Link to this view",
    onfocus: () => this.#field.select(),
  });
  #copy = element(
    "button",
    { type: "button", autofocus: true, onclick: () => this.#copyLink() },
    "Copy link",
  );
  #note = element("span", {});
  #command = element("code", {});
  #said = element("p", { className: "said", role: "status" });
  #list = element("ul", {});
  #movies = element("div", { className: "movies" });

  /** @param {Address | null} address null where the view is a part of another page */
  constructor(address) {
    this.#address = address;
    this.element = element(
      "dialog",
      { className: "share", "aria-labelledby": "share-title" },
      element("h2", { id: "share-title" }, "Link, pictures and files"),
      element("div", { className: "line", hidden: address === null }, this.#field, this.#copy),
      element("p", {}, this.#note, " ", this.#command),
      this.#list,
      this.#movies,
      this.#said,
      element("form", { method: "dialog" }, element("button", {}, "Close")),
    );
  }

  /**
   * Open it for what is shown; `shown` are the series of the views.
   * @param {ViewState} state
   * @param {Series[]} shown
   */
  open(state, shown) {
    const { album, player, run } = state;
    const kind = location.protocol.startsWith("http") ? "http" : "file";
    say(this.#note, NOTES[this.#address ? kind : "notebook"]);
    say(this.#command, this.#address ? "" : `burstlens serve ${run}`);
    this.#field.value = this.#address?.link ?? "";
    say(this.#said, "");
    /** @param {Series} series */
    const at = (series) => (player.time === null ? undefined : series.at(player.time));
    const rows = [
      ...shown.map((series) => this.#picture(state, at(series))),
      ...album.files.map((series) => this.#file(state, series.exactly(player.time ?? ""))),
    ].filter((row) => row !== null);
    this.#list.replaceChildren(...rows);
    this.#movies.replaceChildren(
      ...(shown.length ? ["A movie of all frames: "] : []),
      ...shown.map(({ product }) => element("code", {}, `burstlens movie ${run} ${product}`)),
    );
    this.element.showModal();
  }

  /**
   * @param {ViewState} state
   * @param {IndexLine | undefined} line
   */
  #picture({ pictures, source, looks }, line) {
    if (!line) return null;
    const painted = looks.shown(seriesId(line));
    const bitmap = painted ?? pictures.get(line);
    const name = line.name.slice(line.name.lastIndexOf("/") + 1);
    const label = `${line.product}, ${timeLabel(line.time)}`;
    const copy = element(
      "button",
      {
        type: "button",
        className: "small",
        "aria-label": `Copy picture of ${label}`,
        disabled: !bitmap,
        onclick: () => bitmap && this.#copyPicture(bitmap),
      },
      "Copy picture",
    );
    const url = source.link(line.name);
    const save =
      url && !painted
        ? saver(url, name, "Save")
        : element(
            "button",
            {
              type: "button",
              className: "small",
              disabled: !bitmap,
              onclick: () => bitmap && this.#save(bitmap, `${name.replace(/\.\w+$/, "")}.png`),
            },
            "Save",
          );
    save.setAttribute("aria-label", `Save picture of ${label}`);
    return element("li", {}, element("span", {}, label), copy, save);
  }

  /**
   * A product of the shown time that is not a picture.
   * @param {ViewState} state
   * @param {IndexLine | undefined} line
   */
  #file({ source }, line) {
    if (!line) return null;
    const name = line.name.slice(line.name.lastIndexOf("/") + 1);
    const size = line.bytes === undefined ? "" : `, ${showBytes(line.bytes)}`;
    const url = source.link(line.name);
    const what = element("span", {}, `${name}${size}`);
    const save = url ? saver(url, name, "Save") : element("span", {}, "in the folder of the run");
    return element("li", {}, what, save);
  }

  async #copyLink() {
    try {
      await navigator.clipboard.writeText(this.#field.value);
      say(this.#said, "Link copied.");
    } catch {
      this.#field.focus();
      say(this.#said, "This browser does not let this page copy: copy the link above.");
    }
  }

  /** @param {ImageBitmap | OffscreenCanvas} bitmap */
  async #copyPicture(bitmap) {
    try {
      // The clipboard must be asked within the click: it waits for the picture.
      const picture = png(bitmap);
      picture.catch(() => {}); // the clipboard may refuse before it looks at the picture
      await navigator.clipboard.write([new ClipboardItem({ "image/png": picture })]);
      say(this.#said, "Picture copied.");
    } catch {
      say(this.#said, NO_PICTURE);
    }
  }

  /**
   * @param {ImageBitmap | OffscreenCanvas} bitmap
   * @param {string} name
   */
  async #save(bitmap, name) {
    try {
      const url = URL.createObjectURL(await png(bitmap));
      saver(url, name, "").click();
      setTimeout(() => URL.revokeObjectURL(url), 60_000);
    } catch {
      say(this.#said, "The picture cannot be saved here.");
    }
  }
}

/**
 * A link that saves a file.
 * @param {string} href
 * @param {string} name
 * @param {string} text
 */
function saver(href, name, text) {
  return element(
    "a",
    { className: "small", href, download: name, target: "_blank", rel: "noopener" },
    text,
  );
}

/**
 * A picture as PNG; rejects for one that was read from a file without a server.
 * @param {ImageBitmap | OffscreenCanvas} bitmap
 * @returns {Promise<Blob>}
 */
async function png(bitmap) {
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0);
  return canvas.convertToBlob({ type: "image/png" });
}
