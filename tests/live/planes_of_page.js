// Prints, as JSON, what the page's modules say of planes: argument 1 is their folder.
const [, , modules] = process.argv;
const [{ Fields }, { Grid }, { Plane }, { placeWords }, { FieldStore }, { PixelMap }] =
  await Promise.all(
    [
      "values/fields",
      "values/grid",
      "drawing/plane",
      "drawing/inner_words",
      "values/field_store",
      "values/pixel_map",
    ].map((name) => import(`${modules}/${name}.js`)),
  );

const BOX = { left: 0, top: 0, width: 100, height: 100 };
const HEADER = { box: [0, 0, 100, 100], size: [100, 100], extent: [0, 100, 0, 100], words: [] };

/** Fields on squares, [first, last, points of a side, stride] each, on a map of 100 x 100 pixels. */
function fieldsOf(squares, header) {
  const facts = { bits: 1, offset: 0, scale: 1, transform: "linear", outliers: [] };
  const fields = squares.map(([, , n, stride = 1]) => ({ ...facts, nx: n, ny: n, stride }));
  const grids = squares.map(([first, last, n]) => {
    const step = (last - first) / n;
    const x = { n, edges: [first, last], start: first + step / 2, step };
    const y = { n, edges: [last, first], start: last - step / 2, step: -step };
    return new Grid({ kind: "axes", x, y });
  });
  const codes = squares.map(([, , n]) => new Uint16Array(n * n));
  return new Fields({ header: { ...HEADER, ...header, fields } }, codes, grids);
}

const coarser = (squares, header = {}) => new Plane(fieldsOf(squares, header)).isCoarser(BOX);

/** The plane of a picture whose overlay is no PNG: asked, and asked again. */
async function damaged() {
  const overlay = [{ at: [0, 0, 1, 1], bytes: 3 }];
  const header = { ...HEADER, format: 1, picture: 1, block: 64, bytes: 2, fields: [], overlay };
  const text = new TextEncoder().encode(JSON.stringify(header));
  const bytes = new Uint8Array(8 + text.length + 5);
  new DataView(bytes.buffer).setUint32(0, 0x31564c42, true);
  new DataView(bytes.buffer).setUint32(4, text.length, true);
  bytes.set(text, 8);
  bytes.set([3, 0], 8 + text.length); // nothing, deflated
  let decoded = 0;
  globalThis.createImageBitmap = async () => {
    decoded += 1;
    throw new Error("no picture");
  };
  const wholes = [];
  for (const name of ["first", "second"]) {
    const line = { name, crc32: 1, values: {} };
    await new Promise((done) => {
      const store = new FieldStore({ values: async () => bytes }, () => {
        store.want([line]);
        const whole = store.whole(line);
        if (!whole) return;
        wholes.push({ isReady: new Plane(whole).isReady });
        done();
      });
      store.want([line]);
    });
  }
  return { wholes, decoded };
}

/** Words of 40 x 12.5 pixels at places, over a picture in letters of the same size. */
function placed(places, covers) {
  const words = places.map(([x, y], at) => ({ text: `${at}`, at: [x, y], letter: 10, colour: "k" }));
  const frame = { left: 0, top: 0, scale: 1 };
  const found = placeWords(words, frame, BOX, 10, () => 36, covers);
  return found.map(({ text, written, cover }) => [text, written, cover !== null]);
}

/** A nest in another field's pixels: by rows and columns, and by the point of each pixel. */
function painted() {
  const fields = fieldsOf([[0, 100, 5], [30, 70, 8]]); // prettier-ignore
  const middles = Float64Array.from({ length: 100 }, (_, at) => at + 0.5);
  const ways = [new Uint32Array(10000), new Uint32Array(10000)];
  for (const number of [0, 1]) {
    const colours = Uint32Array.from({ length: 64 }, (_, at) => 100 * (number + 1) + at);
    const map = new PixelMap(fields, number, middles, middles);
    map.paint(ways[0], colours);
    map.points.forEach((point, pixel) => {
      if (point >= 0) ways[1][pixel] = colours[point];
    });
  }
  return { same: ways[0].join() === ways[1].join(), colours: new Set(ways[0]).size };
}

console.log(
  JSON.stringify({
    coarser: {
      "cells larger than pixels": coarser([[0, 100, 50]]),
      "cells smaller than pixels": coarser([[0, 100, 200]]),
      "neighbours blended": coarser([[0, 100, 50]], { smooth: true }),
      "rows sampled": coarser([[0, 100, 50]], { resampled: true }),
      "an older version": coarser([[0, 100, 50]], { words: undefined }),
      "every second point": coarser([[0, 100, 50, 2]]),
      "every second point, as fine as pixels": coarser([[0, 100, 100, 2]]),
      "a nest of which every second point is kept": coarser([[0, 100, 50], [40, 60, 10, 2]]), // prettier-ignore
      "a nest of cells smaller than pixels": coarser([[0, 100, 50], [40, 60, 40]]), // prettier-ignore
      "a domain of cells smaller than pixels in a wide map": coarser([[45, 55, 20]]),
      "a domain of cells larger than pixels in a wide map": coarser([[45, 55, 5]]),
    },
    damaged: await damaged(),
    covered: placed([[50, 50], [55, 52], [50, 80]], true), // prettier-ignore
    bare: placed([[50, 50], [55, 52], [50, 80]], false), // prettier-ignore
    painted: painted(),
  }),
);
