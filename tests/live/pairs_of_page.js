// Prints, as JSON, at which time a pair of pictures is seen in limits of a reader once the second
// time is asked for, and whether the other run's is painted: argument 1 is the modules' folder.
import { deflateRawSync } from "node:zlib";

const [, , modules] = process.argv;
Object.assign(globalThis, {
  document: { baseURI: "http://run/" },
  fetch: async (url) => ({ ok: !url.includes("gone"), blob: async () => null }),
  createImageBitmap: async () => ({ width: 100, height: 100, close: () => {} }),
  OffscreenCanvas: class {
    getContext() {
      return null;
    }
  },
});
const [{ Album, seriesId }, { FieldStore }, { Looks }, { PaintedPair }, { Pictures }] =
  await Promise.all(
    ["time/album", "values/field_store", "drawing/looks", "wall/painted_pair", "wall/pictures"].map(
      (name) => import(`${modules}/${name}.js`),
    ),
  );

const AXES = { format: 1, kind: "axes", x: axis(0, 4), y: axis(4, 0) }; // prettier-ignore

function axis(first, last) {
  const step = (last - first) / 4;
  return { n: 4, edges: [first, last], start: first + step / 2, step };
}

/** The values of a line's picture: all zero. */
function valuesOf({ product, stream, time, crc32 }) {
  const stored = deflateRawSync(new Uint8Array(32));
  const field = { nx: 4, ny: 4, bits: 3, offset: 0, scale: 1, negative: null, transform: "linear", outliers: [], stride: 1, grid: "g", first: 0, units: "K", printed: "K" }; // prettier-ignore
  const colours = { table: "AAAA////", edges: [], limits: [0, 1], log: false, under: "#000000", over: "#ffffff", bad: "#888888" }; // prettier-ignore
  const where = { box: [0, 0, 100, 100], size: [100, 100], extent: [0, 4, 0, 4] };
  const header = { format: 1, product, stream, time, picture: crc32, block: 4, bytes: stored.length, fields: [field], colours, overlay: [], words: [], ...where }; // prettier-ignore
  const text = new TextEncoder().encode(JSON.stringify(header));
  const bytes = new Uint8Array(12 + text.length + stored.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 0x31564c42, true);
  view.setUint32(4, text.length, true);
  bytes.set(text, 8);
  view.setUint32(8 + text.length, stored.length, true);
  bytes.set(stored, 12 + text.length);
  return bytes;
}

/** A run of two times, whose second picture has that name. */
function runOf(second) {
  const names = ["first", second];
  const lines = names.map((name, at) => ({ product: "t", stream: "s", time: `2001010${at + 1}T000000`, name: `${name}.png`, crc32: at, values: {}, facts: { units: "K", limits: [0, 1] }, t: at })); // prettier-ignore
  const album = new Album();
  album.take({ lines, fresh: true });
  const late = new Promise(() => {});
  const source = {
    image: async ({ name }) => `http://run/${name}`,
    values: (line) => (line.name === "late.png" ? late : Promise.resolve(valuesOf(line))),
    grid: async () => structuredClone(AXES),
  };
  const [fields, pictures] = [new FieldStore(source, () => {}), new Pictures(source, () => {})];
  return { album, fields, pictures, lines };
}

/** Both runs are asked for the first time until both are painted, and then for the second one. */
async function seen(second, playing) {
  const [mine, theirs] = [runOf("second"), runOf(second)];
  const looks = new Looks(() => {});
  const id = seriesId(mine.lines[0]);
  looks.choose(id, { limits: [0, 2] });
  const comparison = { ...theirs, mode: "side", run: "other" };
  const state = { ...mine, looks, comparison, player: { playing } };
  for (const { fields, pictures, lines } of [mine, theirs]) {
    fields.want(lines);
    pictures.want(lines, []);
  }
  const pair = new PaintedPair();
  const settled = async (line) => {
    let found = pair.paint(state, id, line);
    for (let turn = 0; turn < 20; turn += 1) {
      for (const run of [mine, theirs]) for (const one of run.lines) run.fields.whole(one);
      await new Promise((done) => setTimeout(done, 1));
      found = pair.paint(state, id, line);
    }
    return found;
  };
  await settled(mine.lines[0]);
  const found = await settled(mine.lines[1]);
  const { time } = found.seen;
  return { day: time.slice(6, 8), mine: found.painted !== null, theirs: found.theirs !== null };
}

const found = {};
for (const second of ["second", "late", "gone"]) {
  found[second] = { film: await seen(second, true), still: await seen(second, false) };
}
process.stdout.write(JSON.stringify(found), () => process.exit()); // others are still tried again
