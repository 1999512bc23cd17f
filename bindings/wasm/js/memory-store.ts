import { KeyledgerError } from "./errors.js";
import { NativeFingerprint } from "./native/keyledger.js";
import type { Durability, Store } from "./store.js";

const MAGIC = new TextEncoder().encode("keyledger snapshot 1\n");
const HASH_BYTES = 64;

/** Bytes in memory, which are gone with the process; their snapshot is not. */
export class MemoryStore implements Store {
  readonly durability: Durability = "ephemeral";
  #bytes = new Uint8Array(0);
  #length = 0;

  /** @param snapshot What `snapshot` gave. Damaged bytes are refused with `corrupt`. */
  constructor(snapshot?: Uint8Array) {
    if (snapshot === undefined) return;
    this.#bytes = checked(snapshot).slice();
    this.#length = this.#bytes.length;
  }

  length(): number {
    return this.#length;
  }
  read(offset: number, into: Uint8Array): void {
    if (offset + into.length > this.#length) throw new RangeError("a read behind the end");
    into.set(this.#bytes.subarray(offset, offset + into.length));
  }
  write(offset: number, bytes: Uint8Array): void {
    if (offset + bytes.length > this.#length) this.setLength(offset + bytes.length);
    this.#bytes.set(bytes, offset);
  }
  setLength(length: number): void {
    if (length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(length, 2 * this.#bytes.length));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    this.#bytes.fill(0, Math.min(length, this.#length), this.#length);
    this.#length = length;
  }
  sync(): void {}
  close(): void {}
  open(): void {}

  /** All that is stored, under a checksum. */
  snapshot(): Uint8Array {
    const image = this.#bytes.subarray(0, this.#length);
    const whole = new Uint8Array(MAGIC.length + HASH_BYTES + image.length);
    whole.set(MAGIC);
    whole.set(hashOf(image), MAGIC.length);
    whole.set(image, MAGIC.length + HASH_BYTES);
    return whole;
  }
}

function hashOf(image: Uint8Array): Uint8Array {
  return new TextEncoder().encode(NativeFingerprint.ofBytes([image]).hex);
}

function checked(snapshot: Uint8Array): Uint8Array {
  const equal = (found: Uint8Array, wanted: Uint8Array) => found.length === wanted.length && wanted.every((byte, at) => byte === found[at]);
  if (!equal(snapshot.subarray(0, MAGIC.length), MAGIC)) {
    throw new KeyledgerError("wrong_format", "these bytes are no snapshot of a ledger");
  }
  const image = snapshot.subarray(MAGIC.length + HASH_BYTES);
  if (!equal(snapshot.subarray(MAGIC.length, MAGIC.length + HASH_BYTES), hashOf(image))) {
    throw new KeyledgerError("corrupt", "the snapshot is damaged: its checksum is another; take an earlier one");
  }
  return image;
}
