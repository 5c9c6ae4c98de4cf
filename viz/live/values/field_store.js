import { decode } from "../sources/decoder.js";
import { Retries } from "../sources/retries.js";
import { ValuesFile } from "../sources/values_file.js";
import { Fields } from "./fields.js";
import { Grid } from "./grid.js";

/** @import { Changed, IndexLine, Source } from "../types.d.ts" */

const HELD_BYTES = 256 * 2 ** 20;
const BITMAPS = 48;
const GRIDS = 24;
const AT_ONCE = 3;
const AGAIN_MS = 3000;

/**
 * The values of one source's pictures: loaded when they are needed. Those that were wanted last are
 * held, and others as far as all fit into a number of bytes.
 */
export class FieldStore {
  #source;
  #run;
  #changed;
  #most;
  /** @type {Map<string, Fields>} */
  #held = new Map();
  #bytes = 0;
  #missing = new Retries(AGAIN_MS);
  /** @type {Map<string, Promise<Grid>>} */
  #grids = new Map();
  /** @type {Set<string>} */
  #loading = new Set();
  /** @type {WeakMap<Fields, boolean>} whether what lies over them is damaged */
  #dressing = new WeakMap();
  /** @type {IndexLine[]} */
  #wanted = [];
  /** @type {Set<string>} */
  #needed = new Set();

  /**
   * @param {Source} source
   * @param {Changed} changed
   * @param {string} [run] the name of another run than the one that is shown
   * @param {number} [bytes]
   */
  constructor(source, changed, run = "", bytes = HELD_BYTES) {
    this.#source = source;
    this.#most = bytes;
    this.#run = run;
    this.#changed = changed;
  }

  /**
   * The values of a line's picture, or null until they are loaded.
   * @param {IndexLine} line
   */
  get(line) {
    const key = keyOf(line);
    const fields = this.#held.get(key) ?? null;
    if (fields) {
      this.#held.delete(key); // and added again as the most recently used
      this.#held.set(key, fields);
    }
    return fields;
  }

  /**
   * The same once its overlay is decoded, for painting; without one where that is damaged.
   * @param {IndexLine} line
   */
  whole(line) {
    const fields = this.get(line);
    if (!fields) return null;
    if (!fields.overlay && !this.#dressing.has(fields)) {
      this.#dressing.set(fields, false);
      const torn = () => this.#dressing.set(fields, true);
      decoded(fields).catch(torn).then(this.#changed);
    }
    return fields.overlay || this.#dressing.get(fields) ? fields : null;
  }

  /**
   * Whether a picture's values could not be loaded.
   * @param {IndexLine} line
   */
  isMissing(line) {
    return this.#missing.has(keyOf(line));
  }

  /**
   * Load the values of these lines, the first ones first; replaces what was wanted before.
   * @param {IndexLine[]} lines
   */
  want(lines) {
    this.#needed = new Set(lines.map(keyOf));
    this.#wanted = lines.filter((line) => line.values && !this.#held.has(keyOf(line)));
    this.#load();
  }

  #load() {
    for (const line of this.#wanted) {
      if (this.#loading.size >= AT_ONCE) return;
      const key = keyOf(line);
      if (this.#held.has(key) || this.#loading.has(key) || !this.#missing.isDue(key)) continue;
      this.#fetch(key, line);
    }
  }

  /**
   * @param {string} key
   * @param {IndexLine} line
   */
  async #fetch(key, line) {
    this.#loading.add(key);
    try {
      this.#hold(key, await this.read(line));
      this.#missing.delete(key);
    } catch {
      setTimeout(() => this.#load(), this.#missing.add(key) + 50);
    }
    this.#loading.delete(key);
    this.#changed();
    this.#load();
  }

  /**
   * @param {string} key
   * @param {Fields} fields
   */
  #hold(key, fields) {
    this.#held.set(key, fields);
    this.#bytes += fields.bytes;
    for (const [old, other] of this.#held) {
      if (this.#bytes <= this.#most) break;
      if (old === key || this.#needed.has(old)) continue; // it would be loaded again at once
      this.#held.delete(old);
      this.#bytes -= other.bytes;
    }
  }

  /**
   * The values of a line's picture; rejects where they cannot be read.
   * @param {IndexLine} line
   */
  async read(line) {
    const file = await this.open(line);
    const grids = this.grids(file);
    grids.catch(() => {}); // where decoding fails first
    const { fields: laid, block } = file.header;
    const codes = await decode(file.stream, laid, block);
    const fields = new Fields(file, codes, await grids);
    fields.run = this.#run;
    return fields;
  }

  /**
   * The file with a line's values; rejects where it belongs to another picture.
   * @param {IndexLine} line
   */
  async open(line) {
    const file = new ValuesFile(await this.#source.values(line));
    if (file.header.picture !== line.crc32) throw new Error("values of another picture");
    return file;
  }

  close() {
    this.#wanted = [];
    this.#held.clear();
    this.#bytes = 0;
  }

  /**
   * The grid of each field of a file; rejects where one is of other fields.
   * @param {ValuesFile} file
   */
  async grids({ header: { fields } }) {
    const grids = await Promise.all(fields.map(({ grid }) => this.grid(grid)));
    grids.forEach(({ facts: { x, y } }, at) => {
      if (x.n !== fields[at].nx || y.n !== fields[at].ny) throw new Error("another grid");
    });
    return grids;
  }

  /**
   * The grid of that hash.
   * @param {string} hash
   */
  grid(hash) {
    let grid = this.#grids.get(hash);
    if (!grid) {
      grid = this.#source.grid(hash).then(Grid.read);
      grid.catch(() => this.#grids.delete(hash)); // requested again next time
    }
    this.#grids.delete(hash); // the most recently used is the last
    this.#grids.set(hash, grid);
    if (this.#grids.size > GRIDS) this.#grids.delete([...this.#grids.keys()][0]);
    return grid;
  }
}

/**
 * Decode what lies over the fields; rejects where it is damaged.
 * @param {Fields} fields
 */
async function decoded(fields) {
  const pieces = fields.file.overlay.map(async ({ box, png }) => ({
    box,
    image: await bitmap(png),
  }));
  fields.overlay = await Promise.all(pieces);
}

/** @type {Map<string, Promise<ImageBitmap>>} coasts and scales are the same in all frames */
const bitmaps = new Map();

/** @param {Uint8Array<ArrayBuffer>} png */
function bitmap(png) {
  // Its palette, and its checksums at the end.
  const key = `${png.length} ${png.subarray(33, 600)} ${png.subarray(-24)}`;
  let image = bitmaps.get(key);
  if (!image) {
    if (bitmaps.size >= BITMAPS) bitmaps.delete([...bitmaps.keys()][0]);
    image = createImageBitmap(new Blob([png], { type: "image/png" }));
    image.catch(() => bitmaps.delete(key)); // decoded again next time
    bitmaps.set(key, image);
  }
  return image;
}

/** @param {IndexLine} line */
function keyOf(line) {
  return `${line.name}?${line.crc32}`;
}
