import { KeyledgerError } from "./errors.js";

/** What a ledger's file begins with (docs/format.md): sixteen bytes, a version, and how far its creation has come. */
export const PAGE_BYTES = 4096;
const MAGIC = new TextEncoder().encode("keyledger\0\0\0\0\0\0\0");
const STAGE_AT = 20;
const CREATING = 1;

/**
 * I9: who opens a store without a name takes these for a creation that was cut short, and starts it over. Where files come whole (P5) they
 * are none of ours. `page` is the first of the file, as far as it goes.
 */
export function refuseNoLedger(name: string, size: number, page: Uint8Array): void {
  if (page.length === 0) throw wrong(name, "the file is empty");
  if (size <= PAGE_BYTES && page.every((byte) => byte === 0)) throw wrong(name, "the file is not a ledger");
  const isOurs = page.length > STAGE_AT + 4 && MAGIC.every((byte, at) => page[at] === byte);
  if (isOurs && new DataView(page.buffer, page.byteOffset).getUint32(STAGE_AT) === CREATING) {
    throw new KeyledgerError("corrupt", `${name}: its creation was cut short; nothing was changed, remove it if nothing was stored in it`);
  }
}

export function wrong(name: string, why: string): KeyledgerError {
  return new KeyledgerError("wrong_format", `${name}: ${why}; nothing was changed, choose another path`);
}
