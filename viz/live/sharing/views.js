/** A view of a link: a series, and the valid time that it holds or null. */
/** @typedef {{ id: string, held: string | null }} View */

const MOST = 12;
const BETWEEN = " · "; // as in seriesId()

/**
 * The views in a text such as "t2/d01,w/d01@20051028T120000".
 * @param {string} text
 * @returns {View[]}
 */
export function viewsIn(text) {
  const parts = text ? text.split(",", MOST) : [];
  return parts.map((part) => {
    const [series, held] = part.split("@");
    const id = series.split("/").map(decodeURIComponent).join(BETWEEN);
    return { id, held: held ? decodeURIComponent(held) : null };
  });
}

/**
 * The text of these views.
 * @param {View[]} views
 */
export function viewsOut(views) {
  return views
    .map(({ id, held }) => {
      const series = id.split(BETWEEN).map(plain).join("/");
      return held === null ? series : `${series}@${plain(held)}`;
    })
    .join(",");
}

/** @param {string} name */
function plain(name) {
  return name.replace(/[%,@/]/g, encodeURIComponent);
}
