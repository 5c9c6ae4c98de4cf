import { element, say } from "../elements/element.js";
import { showBytes } from "../elements/quantity.js";
import { timeLabel } from "../elements/valid_time.js";
import { messageOf } from "../sources/source.js";
import { seriesId } from "../time/album.js";
import { copyButton } from "./copy_text.js";
import { saveAs } from "./csv.js";
import { tableOf } from "./table.js";

/** @import { Address } from "./address.js" */
/** @import { Pane } from "../wall/pane.js" */
/** @import { IndexLine, ViewState } from "../types.d.ts" */

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
   * Open it for what is shown; `seen` are the views with a picture.
   * @param {ViewState} state
   * @param {Pane[]} seen
   */
  open(state, seen) {
    const { album, player, run } = state;
    const kind = isServed() ? "http" : "file";
    say(this.#note, NOTES[this.#address ? kind : "notebook"]);
    say(this.#command, this.#address ? "" : `burstlens serve ${run}`);
    this.#field.value = this.#address?.link ?? "";
    say(this.#said, "");
    const rows = [
      ...seen.map((pane) => this.#picture(state, pane)),
      ...album.files.map((series) => this.#file(state, series.exactly(player.time ?? ""))),
    ].filter((row) => row !== null);
    this.#list.replaceChildren(...rows);
    const lines = seen.flatMap(({ shown }) => shown.line ?? []);
    const movies = new Map(lines.map((line) => [seriesId(line), line]));
    this.#movies.replaceChildren(
      ...(movies.size ? ["A movie of all frames: "] : []),
      ...[...movies.values()].map((line) => this.#movie(state, line)),
    );
    this.element.showModal();
  }

  /**
   * @param {ViewState} state
   * @param {Pane} pane
   */
  #picture(state, pane) {
    const { line, bitmap, painted } = pane.shown;
    if (!line) return null;
    const name = line.name.slice(line.name.lastIndexOf("/") + 1);
    const label = `${line.product}, ${timeLabel(line.time)}`;
    const copy = this.#act("Copy picture", label, NO_PICTURE, async () => {
      // The clipboard must be asked within the click: it waits for the picture.
      const picture = png(bitmap);
      picture.catch(() => {}); // the clipboard may refuse before it looks at the picture
      await navigator.clipboard.write([new ClipboardItem({ "image/png": picture })]);
      return "Picture copied.";
    });
    const stem = name.replace(/\.\w+$/, "");
    const url = state.source.link(line.name);
    const save =
      url && !painted
        ? saver(url, name)
        : this.#act("Save", label, "The picture cannot be saved here.", async () => {
            saveAs(await png(bitmap), `${stem}.png`);
            return "Picture saved.";
          });
    save.setAttribute("aria-label", `${save.textContent} picture of ${label}`);
    copy.hidden = !isServed();
    const values = this.#act("Values (CSV)", label, "The values cannot be saved", async () => {
      const fields = await state.fields.read(line);
      const part = pane.part(fields.header.size);
      const { pieces, count } = await tableOf(fields, state.run, part, painted);
      saveAs(new Blob(pieces, { type: "text/csv" }), `${stem}.csv`);
      return `${count} values saved: ${part ? "the part in sight" : "all points that are kept"}.`;
    });
    values.hidden = !line.values;
    return element("li", {}, element("span", {}, label), copy, save, values);
  }

  /**
   * A movie of a line's series: made by the server, else the command that makes it.
   * @param {ViewState} state
   * @param {IndexLine} line
   */
  #movie({ album, run, source }, { product, stream }) {
    const alone = [...album.series.values()].every(
      (one) => one.product !== product || one.stream === stream,
    );
    const words = ["burstlens", "movie", run, product, ...(alone ? [] : ["--stream", stream])];
    const command = element("code", {}, words.map(shellWord).join(" "));
    const parts = [command, copyButton(() => command)];
    const { movie } = source;
    if (movie) {
      const make = this.#act("Make movie", product, "The movie cannot be made", async () => {
        say(this.#said, "The server makes the movie; a long run takes minutes.");
        saveAs(await movie({ product, stream }), `${run}-${product}.mp4`);
        return "Movie saved.";
      });
      parts.push(make);
    }
    return element("div", {}, ...parts);
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
    const save = url ? saver(url, name) : element("span", {}, "in the folder of the run");
    return element("li", {}, what, save);
  }

  /**
   * A button that says what came of its work, and cannot be pressed again before. Where it fails it
   * says `failed`, and why unless that is a sentence.
   * @param {string} text
   * @param {string} of
   * @param {string} failed
   * @param {() => Promise<string>} work
   */
  #act(text, of, failed, work) {
    const button = element(
      "button",
      { type: "button", className: "small", "aria-label": `${text} of ${of}` },
      text,
    );
    button.addEventListener("click", async () => {
      button.disabled = true;
      const why = (/** @type {unknown} */ error) =>
        failed.endsWith(".") ? failed : `${failed}: ${messageOf(error)}`;
      say(this.#said, await work().catch(why));
      button.disabled = false;
    });
    return button;
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
}

/**
 * A word as a shell reads it: names come from other people's files.
 * @param {string} text
 */
function shellWord(text) {
  return /^[\w.+:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Whether the page comes from a server: of a file, browsers let no script copy or save pictures. */
function isServed() {
  return location.protocol.startsWith("http");
}

/**
 * A link that saves a file; without a server it opens it in another tab.
 * @param {string} href
 * @param {string} name
 */
function saver(href, name) {
  return element(
    "a",
    { className: "small", href, download: name, target: "_blank", rel: "noopener" },
    isServed() ? "Save" : "Open",
  );
}

/**
 * A picture as PNG; rejects for one that is not there, or was read from a file without a server.
 * @param {ImageBitmap | OffscreenCanvas | null} bitmap
 * @returns {Promise<Blob>}
 */
async function png(bitmap) {
  if (!bitmap) throw new Error("no picture");
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0);
  return canvas.convertToBlob({ type: "image/png" });
}
