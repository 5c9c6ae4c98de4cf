import { planeOf } from "./plane.js";

/** @import { FieldStore } from "../values/field_store.js" */
/** @import { Painted } from "./looks.js" */
/** @import { Sheet } from "./sheet.js" */
/** @import { IndexLine } from "../types.d.ts" */

/** The plane on one sheet: values are loaded for a picture that stays, not for each in passing. */
export class StillPlane {
  /** @type {IndexLine[]} the line whose values it needs, if any */
  needs = [];

  /**
   * The plane of a picture by its values; null until these are loaded.
   * @param {Sheet} sheet
   * @param {ImageBitmap | OffscreenCanvas | null} shown what the sheet will show of it
   * @param {FieldStore} fields of the run
   * @param {IndexLine | undefined} line
   * @param {Painted | null} painted
   */
  of(sheet, shown, fields, line, painted) {
    this.needs = [];
    if (!line?.values) return null;
    const isStill = sheet.isStill(shown);
    const known = (isStill && fields.whole(line)) || fields.get(line);
    if (isStill && !known) this.needs = [line];
    return painted?.plane ?? (known && planeOf(known));
  }
}
