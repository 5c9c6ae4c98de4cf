/** @import { Address } from "./address.js" */
/** @import { Comparer } from "../wall/comparison.js" */
/** @import { Guests } from "../wall/guests.js" */
/** @import { Lens } from "../wall/lens.js" */
/** @import { Player } from "../time/player.js" */
/** @import { Tools } from "../types.d.ts" */
/** @import { Wall } from "../wall/wall.js" */

const TIME = /^((\d{4}|[-y]\d{6})\d{4}T\d{6}(\.\d{1,6})?|[nr-u][\d.]{1,30}|f-[^\p{C}]{1,255})$/u;
const MOST = 32;

/**
 * The parts of the view that the address holds, read in this order. The shown time and the
 * magnification are not steps of the back button.
 * @param {Address} address
 * @param {{ wall: Wall, comparer: Comparer, guests: Guests, player: Player, lens: Lens, tools: Tools }} view
 */
export function bookmark(address, { wall, comparer, guests, player, lens, tools }) {
  const { pins, looks, profile } = tools;
  const parts = { show: wall, with: comparer, beside: guests, pins, colours: looks, profile };
  for (const [name, part] of Object.entries(parts)) {
    address.part(
      name,
      (text) => part.read(text),
      () => part.write(),
    );
  }
  address.part(
    "time",
    (text) => {
      if (TIME.test(text)) player.open(text);
      else if (!player.following) player.follow();
    },
    () => (player.following ? "" : (player.time ?? "")),
    false,
  );
  address.part(
    "zoom",
    (text) => {
      const numbers = text.split(",").map(Number);
      const [scale, x, y] = numbers;
      const good = numbers.length === 3 && numbers.every(Number.isFinite);
      if (!good || scale <= 1 || scale > MOST) return lens.reset();
      Object.assign(lens, { scale, x, y });
      lens.shift(0, 0); // within its bounds
    },
    () => (lens.scale > 1 ? [lens.scale, lens.x, lens.y].map((n) => +n.toFixed(4)).join(",") : ""),
    false,
  );
}
