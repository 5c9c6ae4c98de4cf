// Reads a grid file and prints how many places of a picture three times as large the page has
// unfound after one step, unfound at the end, and in other cells than those that contain them.
import { readFileSync } from "node:fs";

const [, , modules, path] = process.argv;
const { Grid } = await import(`${modules}/values/grid.js`);
const { CellPixels } = await import(`${modules}/values/cell_pixels.js`);
const text = readFileSync(path, "utf8");
const grid = await Grid.read(JSON.parse(text.slice("burstlensFeed(".length, -");\n".length)));
const { width, height, extent } = grid.facts;
const [left, right, bottom, top] = extent;
const coordinates = (x, y) => [
  left + (x / width) * (right - left),
  top + (y / height) * (bottom - top),
];
const middles = (size) => Float64Array.from({ length: 3 * size }, (_, at) => (at + 0.5) / 3);
const [xs, ys] = [middles(width), middles(height)];
const box = [0, 0, width, height];
const cells = new CellPixels({ box, extent, isLog: false }, grid, xs, ys);
const unfound = () => cells.points.filter((point) => point === -2).length;
cells.find(0);
const before = unfound();
cells.find(Infinity);
let [asked, other] = [0, 0];
for (let pixel = 0; pixel < cells.points.length; pixel += 41) {
  const [x, y] = coordinates(xs[pixel % xs.length], ys[Math.floor(pixel / xs.length)]);
  const [point, shown] = [grid.pointAt(x, y), cells.points[pixel]];
  // Beyond the last cells the picture's pixels say how far these are taken.
  if (point < 0 || shown < 0) continue;
  asked += 1;
  other += point !== shown ? 1 : 0;
}
console.log(JSON.stringify({ before, after: unfound(), asked, other }));
