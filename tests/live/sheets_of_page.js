// Prints, as JSON, what sheets have drawn of magnified planes without straight rows once nothing is
// under way any more, or after many turns: arguments are the modules' folder and a grid file.
import { readFileSync } from "node:fs";

const [, , modules, path] = process.argv;

/** A canvas, or what draws on it: any property is a number or a function that returns as much. */
const context = () =>
  new Proxy(
    { canvas: { width: 400, height: 300 }, measureText: () => ({ width: 9 }) },
    { get: (target, name) => target[name] ?? (() => context()), set: () => true },
  );

class Canvas {
  clientWidth = 400;
  clientHeight = 300;
  style = {};
  dataset = {};
  append() {}
  getContext() {
    return context();
  }
  getAttribute(name) {
    return this.dataset[name];
  }
  setAttribute(name, text) {
    this.dataset[name] = text;
  }
}

/** @type {Map<number, () => void>} in their order, whatever they wait for */
const waiting = new Map();
let [count, now] = [0, 0];
Object.assign(globalThis, {
  window: { devicePixelRatio: 1 },
  document: { createElement: () => new Canvas() },
  getComputedStyle: () => ({ color: "black", fontSize: "14px" }),
  ImageData: class {
    constructor(width, height) {
      this.data = new Uint8ClampedArray(4 * width * height);
    }
  },
  performance: { now: () => (now += 5) },
});

const [{ cellPixelsOf }, { Fields }, { Grid }, { Plane }, { Sheet }] = await Promise.all(
  ["values/cell_pixels", "values/fields", "values/grid", "drawing/plane", "drawing/sheet"].map(
    (name) => import(`${modules}/${name}.js`),
  ),
);
const text = readFileSync(path, "utf8");
const grid = await Grid.read(JSON.parse(text.slice("burstlensFeed(".length, -");\n".length)));
const { width, height, extent, x, y } = grid.facts;

globalThis.setTimeout = (call) => {
  count += 1;
  waiting.set(count, call);
  return count;
};
globalThis.clearTimeout = (timer) => waiting.delete(timer);

/** A picture's fields on grids of these names. */
function fieldsOn(names) {
  const fields = names.map((name) => ({ grid: name, bits: 3, offset: 0, scale: 1, negative: null, transform: "linear", outliers: [], nx: x.n, ny: y.n, stride: 1 })); // prettier-ignore
  const colours = { table: "AAAA////", edges: [], under: "#000000", over: "#ffffff", bad: "#888888" }; // prettier-ignore
  const header = { box: [0, 0, width, height], size: [width, height], extent, fields, colours, words: [] }; // prettier-ignore
  const codes = names.map(() => new Uint16Array(x.n * y.n));
  const made = new Fields({ header }, codes, names.map(() => grid)); // prettier-ignore
  made.overlay = [];
  return made;
}

/** Sheets with these planes, each its fields' grids, are shown; some are closed on the way. */
function drawn(planes, closed = []) {
  const sheets = planes.map((names) => {
    const fields = fieldsOn(names);
    const plane = new Plane(fields, () => new Uint32Array(x.n * y.n));
    const sheet = new Sheet("sheet", () => {});
    const lens = { scale: 4, x: 0.5, y: 0.5 };
    const around = { fields, title: "", subtitle: "", when: "", lead: "", legend: [], bar: null, beyond: [] }; // prettier-ignore
    sheet.show({ width, height }, lens, around, plane);
    return sheet;
  });
  let turns = 0;
  for (; waiting.size && turns < 20_000; turns += 1) {
    const [[timer, call]] = waiting;
    waiting.delete(timer);
    call();
    if (turns === sheets.length) for (const at of closed) sheets[at].close();
  }
  const found = sheets.map(({ element }) => element.dataset["data-drawn"]);
  const left = waiting.size;
  waiting.clear();
  return { found, left, turns };
}

/** How often each pixel of the grid is read for the size of its cells in a number of pictures. */
function readsIn(pictures) {
  const { pixels } = grid;
  let reads = 0;
  const counted = new Proxy(pixels[0], { get: (rows, at) => [rows[at], (reads += 1)][0] });
  Object.defineProperty(grid, "pixels", { value: [counted, pixels[1]], configurable: true });
  const box = { left: 0, top: 0, width: 4 * width, height: 4 * height };
  for (let at = 0; at < pictures; at += 1) new Plane(fieldsOn(["o"]), () => []).isCoarser(box);
  delete grid.pixels;
  return reads / (width * height);
}

/** Whether the edges of cells hold the values of the picture that they were first asked for. */
async function holdsValues() {
  const places = Float64Array.from({ length: 50 }, (_, at) => at);
  let fields = fieldsOn(["p"]);
  const weak = new WeakRef(fields);
  const cells = cellPixelsOf(fields, 0, places, places);
  fields = null;
  await new Promise(setImmediate);
  gc();
  return weak.deref() !== undefined || cells.isFound;
}

const reads = readsIn(3); // before the sheets read them
process.stdout.write(
  JSON.stringify({
    reads,
    holdsValues: await holdsValues(),
    "one view": drawn([["a"]]),
    "five views": drawn([["b"], ["c"], ["d"], ["e"], ["f"]]),
    "one view of five fields": drawn([["g", "h", "i", "j", "k"]]),
    "two views of one grid": drawn([["l"], ["l"]]),
    "one of two views is closed": drawn([["m"], ["n"]], [1]),
  }),
);
