import { blockCount, decodeFields, inflated, unfold } from "./values_file.js";

/** @import { FieldFacts } from "../types.d.ts" */

/** What the worker runs: the page's own functions, so that there is one decoder. */
const SOURCE = `${[blockCount, unfold, inflated, decodeFields].join("\n")}
onmessage = async ({ data: { id, stream, fields, block } }) => {
  try {
    const codes = await decodeFields(stream, fields, block);
    postMessage({ id, codes }, codes.map(({ buffer }) => buffer));
  } catch (error) {
    postMessage({ id, error: String(error) });
  }
};`;

/** @typedef {{ resolve: (codes: Uint16Array[]) => void, reject: (error: Error) => void }} Waiting */

/** @type {Worker | null | undefined} null where the page may not have one */
let worker;
/** @type {Map<number, Waiting & { again: () => Promise<Uint16Array[]> }>} */
const waiting = new Map();
let count = 0;

/**
 * The codes of fields (`decodeFields`), decoded beside the page's main thread where that is allowed:
 * while pictures play, the next field is inflated as this one is painted.
 * @param {Uint8Array<ArrayBuffer>} stream
 * @param {Pick<FieldFacts, "nx" | "ny">[]} fields
 * @param {number} block
 * @returns {Promise<Uint16Array[]>}
 */
export function decode(stream, fields, block) {
  if (worker === undefined) worker = started();
  const to = worker;
  if (!to) return decodeFields(stream, fields, block);
  count += 1;
  const id = count;
  return new Promise((resolve, reject) => {
    const again = () => decodeFields(stream, fields, block);
    waiting.set(id, { resolve, reject, again });
    to.postMessage({ id, stream, fields: fields.map(({ nx, ny }) => ({ nx, ny })), block });
  });
}

/** A worker, or null where a policy or the browser forbids one. */
function started() {
  try {
    const url = URL.createObjectURL(new Blob([SOURCE], { type: "text/javascript" }));
    const made = new Worker(url);
    made.onmessage = ({ data: { id, codes, error } }) => {
      const asked = waiting.get(id);
      waiting.delete(id);
      if (codes) asked?.resolve(codes);
      else asked?.reject(new Error(error));
    };
    made.onerror = () => {
      worker = null;
      for (const { resolve, reject, again } of waiting.values()) again().then(resolve, reject);
      waiting.clear();
    };
    return made;
  } catch {
    return null;
  }
}
