import { Looks } from "./drawing/looks.js";
import { element } from "./elements/element.js";
import { signButton } from "./elements/icon.js";
import { actOf, keyHelp } from "./elements/keys.js";
import { themeButton } from "./elements/theme.js";
import { timeSeconds } from "./elements/valid_time.js";
import SHEET from "./live.css" with { type: "css" };
import { Cursor } from "./places/cursor.js";
import { Pins } from "./places/pins.js";
import { Places } from "./places/places.js";
import { Profile } from "./places/profile.js";
import VALUES from "./places/values.css" with { type: "css" };
import DETAILS_SHEET from "./run/details.css" with { type: "css" };
import { Details } from "./run/details.js";
import { Folder } from "./run/folder.js";
import { Masthead } from "./run/masthead.js";
import { Measures } from "./run/measures.js";
import { Notes } from "./run/notes.js";
import { Pulse } from "./run/pulse.js";
import { isOver, standing } from "./run/standing.js";
import { Stop } from "./run/stop.js";
import { Word } from "./run/word.js";
import { bookmark } from "./sharing/bookmark.js";
import LINKS from "./sharing/links.css" with { type: "css" };
import { Share } from "./sharing/share.js";
import { unshown } from "./sources/source.js";
import { Album, isStaleIn } from "./time/album.js";
import { markBeside, marksOf } from "./time/marks.js";
import { Player } from "./time/player.js";
import { Timeline } from "./time/timeline.js";
import { Transport } from "./time/transport.js";
import { FieldStore } from "./values/field_store.js";
import { SeriesStore } from "./values/series.js";
import { Comparer } from "./wall/comparison.js";
import { Guests } from "./wall/guests.js";
import { Lens } from "./wall/lens.js";
import { Pictures } from "./wall/pictures.js";
import { Wall } from "./wall/wall.js";

/** @import { Address } from "./sharing/address.js" */
/** @import { RunStatus } from "./status.d.ts" */
/** @import { Gap, Mark, Poll, Source, ViewState } from "./types.d.ts" */

const [POLL_MS, POLL_OVER_MS] = [250, 3000];
const MAGNIFY = 1.25;
const LOOK = 0.1;

/** @typedef {(status: RunStatus | null, state: string) => void} OnPoll */

/**
 * Show a run in an element; `onPoll` is called after each poll, `address` is that of a page that
 * shows nothing else. Returns `element`, `key`, which takes key events, and `destroy`.
 * @param {HTMLElement} host
 * @param {Source} source
 * @param {OnPoll} [onPoll]
 * @param {Address | null} [address]
 */
export function mount(host, source, onPoll = () => {}, address = null) {
  const view = new View(host, source, onPoll, address);
  return {
    element: view.element,
    destroy: () => view.destroy(),
    /** @param {KeyboardEvent} event */
    key: (event) => view.key(event),
  };
}

/** The whole view: passes what a poll returns to the parts, at most once per screen refresh. */
class View {
  /** @type {RunStatus | null} */
  #status = null;
  #why = "";
  /** @type {Gap} */
  #gap = "";
  #album = new Album();
  #player = new Player();
  #pulse = new Pulse();
  /** @type {Mark[]} */
  #marks = [];
  #chosen = "";
  /** @type {ViewState | null} */
  #state = null;
  #asked = false;
  #closed = false;
  #ready = true;
  #before = 0;

  /**
   * @param {HTMLElement} host
   * @param {Source} source
   * @param {OnPoll} onPoll
   * @param {Address | null} address
   */
  constructor(host, source, onPoll, address) {
    this.source = source;
    this.#address = address;
    this.#onPoll = onPoll;
    const changed = () => this.#change();
    this.#lens = new Lens(changed);
    this.#pictures = new Pictures(source, changed);
    this.#fields = new FieldStore(source, changed);
    this.#tools = {
      cursor: new Cursor(changed),
      pins: new Pins(changed),
      profile: new Profile(changed),
      looks: new Looks(changed),
    };
    this.#series = new SeriesStore(source, this.#fields, changed);
    this.#places = new Places(this.#series, this.#tools);
    this.#guests = new Guests(source, changed);
    this.#wall = new Wall(this.#lens, this.#tools, this.#guests, changed);
    this.#comparer = new Comparer(
      source,
      changed,
      () => this.#timeline.element.focus(),
      (run) => this.#guests.add(run),
    );
    this.#transport = new Transport(this.#player, changed);
    this.#measures = new Measures();
    this.#details = new Details(source, changed);
    this.#stop = new Stop(source);
    this.#share = new Share(address);
    /** @param {Mark} mark */
    const choose = (mark) => this.#choose(mark);
    this.#notes = new Notes(choose);
    this.#timeline = new Timeline((index) => {
      this.#player.playing = false;
      this.#player.seek(index);
      changed();
    }, choose);
    this.#masthead = new Masthead(this.#buttons(), choose, () => this.#notes.scroll());
    this.#build();
    if (address) {
      const [player, lens, guests] = [this.#player, this.#lens, this.#guests];
      const [wall, comparer, tools] = [this.#wall, this.#comparer, this.#tools];
      bookmark(address, { wall, comparer, guests, player, lens, tools });
      address.follow(changed);
    }
    host.append(this.element);
    this.#follow();
  }

  #onPoll;
  #address;
  #guests;
  #share;
  #word = new Word();
  #folder = new Folder();
  #lens;
  #pictures;
  #fields;
  #tools;
  #series;
  #places;
  #wall;
  #comparer;
  #transport;
  #measures;
  #details;
  #stop;
  #notes;
  #timeline;
  #masthead;
  #more = element(
    "button",
    { type: "button", onclick: () => this.#wall.more(this.#album) },
    "Add view",
  );
  #help = keyHelp();
  #root = element("div", { className: "live", tabIndex: -1 });
  element = element("div", { className: "burstlens" });

  /** The masthead's buttons. */
  #buttons() {
    return [
      this.#stop.pause,
      this.#stop.button,
      this.#more,
      this.#details.button,
      signButton("share", "Link, pictures, files (C)", () => this.#openShare()),
      this.#word.button,
      themeButton(this.#root, () => this.#change()),
      signButton("whole", "Full screen (F)", () => this.#fullScreen()),
      signButton("help", "Keys (?)", () => this.#help.showModal()),
    ];
  }

  #build() {
    this.#root.append(
      this.#masthead.element,
      element("main", {}, this.#wall.element, this.#details.element),
      element(
        "aside",
        { "aria-label": "About the run", tabIndex: 0 },
        this.#folder.element,
        this.#places.element,
        this.#tools.profile.element,
        this.#measures.element,
        this.#notes.element,
      ),
      element(
        "footer",
        {},
        this.#transport.element,
        this.#comparer.element,
        this.#timeline.element,
        this.#timeline.attempts,
      ),
      this.#stop.element,
      this.#share.element,
      this.#help,
    );
    this.#root.addEventListener("keydown", (event) => this.key(event));
    const shadow = this.element.attachShadow({ mode: "open" });
    shadow.adoptedStyleSheets = [SHEET, VALUES, DETAILS_SHEET, LINKS];
    shadow.append(this.#root);
  }

  async #follow() {
    while (!this.#closed) {
      let soon = false;
      try {
        const found = await this.source.poll();
        if (this.#closed) return;
        this.#take(found);
        soon = Boolean(found.more && (found.fresh || found.older?.length));
      } catch (error) {
        this.#why = unshown(error);
      }
      this.#change();
      const pause = soon ? 0 : isOver(this.#status) ? POLL_OVER_MS : POLL_MS;
      await new Promise((done) => setTimeout(done, pause));
    }
  }

  /** @param {Poll} found */
  #take(found) {
    this.#status = found.status;
    this.#why = found.live
      ? found.why
      : `${found.why || "Not reachable."} The view shows earlier data.`;
    this.#album.take(found);
    this.#album.order(Object.keys(found.status?.products ?? {}));
    this.#pulse.hear(found.status, found.heard);
    this.#gap = found.gap;
    this.#marks = marksOf(found.status, this.#album);
    this.#onPoll(found.status, this.#standing().state);
  }

  #change() {
    if (this.#asked || this.#closed) return;
    this.#asked = true;
    requestAnimationFrame((now) => this.#draw(now));
  }

  /** @param {number} now */
  #draw(now) {
    this.#asked = false;
    if (this.#closed) return;
    try {
      this.#show(now);
    } catch (error) {
      this.#masthead.show(null, standing(null, this.#pulse), unshown(error), []);
    }
    if (this.#player.playing) this.#change();
  }

  /** @param {number} now */
  #show(now) {
    const [status, album, player, marks] = [this.#status, this.#album, this.#player, this.#marks];
    const live = !isOver(status);
    const passed = (now - this.#before) / 1000;
    this.#before = now;
    // Playing waits for a picture that is not loaded yet, but not for ever.
    if (this.#ready || passed > 1) player.pass(passed, live);
    this.#wall.fit(album);
    const series = this.#wall.shown(album);
    const lists = (series.length ? series : [...album.series.values()]).map((one) => one.times);
    const ids = series.map((one) => one.id);
    const times = [...lists, ...this.#guests.times(ids)];
    /** @param {string} time */
    const isStale = (time) => isStaleIn(series, time);
    player.offer(times, `${album.version}:${ids}`, album.more, isStale);
    /** @type {ViewState} */
    const state = {
      status,
      album,
      player,
      marks,
      pictures: this.#pictures,
      fields: this.#fields,
      ...this.#tools,
      source: this.source,
      run: status?.run ?? "",
      comparison: this.#comparer.shown,
      chosen: this.#chosen,
    };
    this.#ready = this.#wall.show(state);
    this.#more.disabled = this.#wall.isWhole(album);
    this.#more.title = this.#more.disabled ? "All pictures are shown" : "Show one more product";
    this.#transport.show(player);
    this.#timeline.show(player, series, marks, live ? this.#modelEnd() : null, album);
    this.#masthead.show(status, this.#standing(), this.#why, marks);
    this.#folder.show(status);
    this.#places.show(state, series, this.#guests.runs);
    this.#measures.show(status, album, series[0], player.time);
    this.#notes.show(state);
    this.#details.show(state);
    this.#stop.show(status);
    this.#comparer.show(state.run);
    this.#word.show(status, this.#standing(), marks);
    this.#state = state;
    this.#address?.update();
  }

  /** Where the model will end, on the time axis; null where that is not known. */
  #modelEnd() {
    const { elapsed_s: elapsed, total_s: total, time } = this.#status?.progress ?? {};
    if (!time || typeof elapsed !== "number" || typeof total !== "number") return null;
    return timeSeconds(time, this.#album.calendar) + total - elapsed;
  }

  #standing() {
    return standing(this.#status, this.#pulse, this.#gap);
  }

  /** @param {Mark} mark */
  #choose(mark) {
    this.#chosen = JSON.stringify(mark);
    if (mark.time !== null) {
      this.#player.playing = false;
      this.#player.seek(this.#player.indexOf(mark.time));
    }
    this.#change();
  }

  #openShare() {
    if (this.#state) this.#share.open(this.#state, this.#wall.seen);
  }

  #fullScreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else this.element.requestFullscreen?.().catch(() => {}); // an iframe may forbid it
  }

  /**
   * Do what a key asks for.
   * @param {KeyboardEvent} event
   */
  key(event) {
    const act = actOf(event);
    if (act === null) return;
    event.preventDefault();
    event.stopPropagation();
    const by = event.shiftKey ? 10 : 1;
    ({
      back: () => this.#player.step(-by),
      on: () => this.#player.step(by),
      first: () => this.#player.first(),
      follow: () => this.#player.follow(),
      play: () => this.#player.toggle(),
      markBefore: () => this.#nextMark(-1),
      markAfter: () => this.#nextMark(1),
      larger: () => this.#lens.magnify(MAGNIFY),
      smaller: () => this.#lens.magnify(1 / MAGNIFY),
      whole: () => this.#lens.reset(),
      left: () => this.#lens.shift(-LOOK / this.#lens.scale, 0),
      right: () => this.#lens.shift(LOOK / this.#lens.scale, 0),
      up: () => this.#lens.shift(0, -LOOK / this.#lens.scale),
      down: () => this.#lens.shift(0, LOOK / this.#lens.scale),
      blink: () => this.#comparer.blink(),
      share: () => this.#openShare(),
      notify: () => this.#word.toggle(),
      fullScreen: () => this.#fullScreen(),
      details: () => this.#details.toggle(),
      help: () => this.#help.showModal(),
    })[act]();
    this.#change();
  }

  /** @param {number} direction */
  #nextMark(direction) {
    const next = markBeside(this.#marks, this.#chosen, direction);
    if (next) this.#choose(next);
  }

  destroy() {
    this.#closed = true;
    this.#wall.close();
    this.#series.close();
    this.#pictures.close();
    this.#fields.close();
    this.#comparer.close();
    this.#guests.close();
    this.#address?.close();
    this.source.close();
    this.element.remove();
  }
}
