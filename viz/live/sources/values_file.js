/** @import { FieldFacts, ValuesHeader } from "../types.d.ts" */

const MAGIC = 0x31564c42; // "BLV1", little-endian
/** Ends a stream that is cut after a block. */
const LAST = Uint8Array.of(3, 0);

/** The values of one picture: its header, its fields as codes, and what lies over them. */
export class ValuesFile {
  #payload;
  #ends;
  #stream;

  /**
   * Throws where the payload is not one of values, of another version, or cut short.
   * @param {Uint8Array<ArrayBuffer>} payload
   */
  constructor(payload) {
    this.#payload = payload;
    const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
    if (payload.length < 8 || view.getUint32(0, true) !== MAGIC) throw new Error("no values");
    const length = view.getUint32(4, true);
    /** @type {ValuesHeader} */
    const header = JSON.parse(new TextDecoder().decode(payload.subarray(8, 8 + length)));
    if (header.format !== 1) throw new Error("values of another version");
    this.header = header;
    const blocks = header.fields.reduce((sum, one) => sum + blockCount(one, header.block), 0);
    this.#ends = Array.from({ length: blocks }, (_, at) =>
      view.getUint32(8 + length + 4 * at, true),
    );
    this.#stream = 8 + length + 4 * blocks;
    if (payload.length < this.#stream + header.bytes) throw new Error("values cut short");
  }

  get bytes() {
    return this.#payload.length;
  }

  /** The blocks of all fields, deflated. */
  get stream() {
    return this.#payload.subarray(this.#stream, this.#stream + this.header.bytes);
  }

  /**
   * The code of one point; inflates its block alone.
   * @param {number} field
   * @param {number} row
   * @param {number} column
   */
  async codeAt(field, row, column) {
    const { block, fields } = this.header;
    const { nx, first } = fields[field];
    const across = Math.ceil(nx / block);
    const number = first + Math.floor(row / block) * across + Math.floor(column / block);
    const begin = number ? this.#ends[number - 1] : 0;
    const part = this.#payload.subarray(this.#stream + begin, this.#stream + this.#ends[number]);
    const one = new Uint8Array(part.length + LAST.length);
    one.set(part);
    one.set(LAST, part.length);
    const [codes] = await decodeFields(one, [{ nx: block, ny: block }], block);
    return codes[(row % block) * block + (column % block)];
  }

  /** The images over the fields: where they lie, and their PNG. */
  get overlay() {
    let at = this.#stream + this.header.bytes;
    return this.header.overlay.map(({ at: box, bytes }) => {
      const part = this.#payload.subarray(at, at + bytes);
      at += bytes;
      return { box, png: part };
    });
  }
}

/**
 * The value that each code of a field stands for.
 * @param {FieldFacts} field
 */
export function valuesOfCodes(field) {
  return Float64Array.from({ length: 2 ** field.bits }, (_, code) => valueOfCode(field, code));
}

/**
 * The value that a code of a field stands for; the four highest are special.
 * @param {FieldFacts} field
 * @param {number} code
 */
export function valueOfCode({ bits, offset, scale, transform, negative }, code) {
  const top = 2 ** bits - 4;
  if (code >= top) return [0, -Infinity, Infinity, NaN][code - top];
  const below = negative !== null && code >= negative;
  const size = offset + scale * (below ? code - negative : code);
  return transform === "log" ? (below ? -1 : 1) * Math.exp(size) : size;
}

/**
 * The bytes of a text in base64.
 * @param {string} text
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function fromBase64(text) {
  if ("fromBase64" in Uint8Array) return /** @type {any} */ (Uint8Array).fromBase64(text);
  const signs = atob(text);
  const bytes = new Uint8Array(signs.length);
  for (let at = 0; at < signs.length; at += 1) bytes[at] = signs.charCodeAt(at);
  return bytes;
}

/**
 * @param {Pick<FieldFacts, "nx" | "ny">} field
 * @param {number} block
 */
export function blockCount({ nx, ny }, block) {
  return Math.ceil(nx / block) * Math.ceil(ny / block);
}

/**
 * The codes of fields whose blocks follow each other in one stream (blocks.py).
 * @param {Uint8Array<ArrayBuffer>} stream
 * @param {Pick<FieldFacts, "nx" | "ny">[]} fields
 * @param {number} block
 */
export async function decodeFields(stream, fields, block) {
  const whole = 2 * block * block;
  const blocks = fields.reduce((sum, one) => sum + blockCount(one, block), 0);
  // Eight fields of the most points that a run may keep.
  const reads = Number.isInteger(block) && block > 0 && blocks * whole <= 2 ** 28;
  if (!reads) throw new Error("values larger than this page reads");
  const bytes = await inflated(stream, blocks * whole);
  let at = 0;
  return fields.map((field) => {
    const codes = new Uint16Array(field.nx * field.ny);
    for (let top = 0; top < field.ny; top += block) {
      for (let left = 0; left < field.nx; left += block) {
        unfold(bytes, at, block, codes, field, top, left);
        at += whole;
      }
    }
    return codes;
  });
}

/**
 * Exactly `size` bytes, inflated by small pieces: a stream that holds more is given up there.
 * @param {Uint8Array<ArrayBuffer>} stream
 * @param {number} size
 */
export async function inflated(stream, size) {
  const { readable, writable } = new DecompressionStream("deflate-raw");
  const [reader, writer] = [readable.getReader(), writable.getWriter()];
  const feed = async () => {
    for (let at = 0; at < stream.length; at += 2 ** 15) {
      await writer.write(stream.subarray(at, at + 2 ** 15));
    }
    await writer.close();
  };
  feed().catch(() => {}); // what fails here fails at the reading end, too
  const bytes = new Uint8Array(size);
  for (let at = 0; ; ) {
    const { done, value } = await reader.read();
    if (done && at < size) throw new Error("values cut short");
    if (done) return bytes;
    if (at + value.length > size) {
      reader.cancel().catch(() => {});
      throw new Error("values longer than their header says");
    }
    bytes.set(value, at);
    at += value.length;
  }
}

/**
 * Put one block into the codes of its field: differences folded to unsigned numbers, low bytes
 * before high ones, each the difference to left + above - above left.
 * @param {Uint8Array} bytes
 * @param {number} low
 * @param {number} block
 * @param {Uint16Array} codes
 * @param {Pick<FieldFacts, "nx" | "ny">} field
 * @param {number} top
 * @param {number} left
 */
export function unfold(bytes, low, block, codes, { nx, ny }, top, left) {
  const high = low + block * block;
  const rows = Math.min(block, ny - top);
  const columns = Math.min(block, nx - left);
  const above = new Uint16Array(columns);
  for (let row = 0; row < rows; row += 1) {
    const from = row * block;
    const to = (top + row) * nx + left;
    let code = 0;
    for (let column = 0; column < columns; column += 1) {
      const folded = bytes[low + from + column] | (bytes[high + from + column] << 8);
      above[column] += (folded >>> 1) ^ -(folded & 1);
      code = (code + above[column]) & 0xffff;
      codes[to + column] = code;
    }
  }
}
