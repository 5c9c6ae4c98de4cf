// Reads a grid file and places, one "lat lon" per line, and prints the points that the page answers.
import { readFileSync } from "node:fs";

const [, , modules, path] = process.argv;
const { Grid } = await import(`${modules}/values/grid.js`);
const text = readFileSync(path, "utf8");
const grid = await Grid.read(JSON.parse(text.slice("burstlensFeed(".length, -");\n".length)));
for (const line of readFileSync(0, "utf8").trim().split("\n")) {
  const [lat, lon] = line.split(" ").map(Number);
  console.log(grid.point({ lat, lon }));
}
