import { KeyledgerError } from "./errors.js";
import { NativeFingerprint } from "./native/keyledger.js";
import { isBytes } from "./response.js";
import type { Durability, Store } from "./store.js";

const MAGIC = new TextEncoder().encode("keyledger snapshot 1\n");
/** 64 hexadecimal digits: of all that follows them. */
const HASH_BYTES = 64;
const HEAD_BYTES = MAGIC.length + HASH_BYTES;
/** What is all zeros is left out of a snapshot, in blocks of so many bytes: a young ledger is two megabytes of them. */
const BLOCK_BYTES = 4096;

/** Bytes in memory, which are gone with the process; their snapshot is not. */
export class MemoryStore implements Store {
  readonly durability: Durability = "ephemeral";
  #bytes = new Uint8Array(0);
  #length = 0;

  /** @param snapshot What `snapshot` gave. Bytes that are none throw `wrong_format`, damaged ones `corrupt`. */
  constructor(...given: [snapshot?: Uint8Array]) {
    // What is handed over and is undefined is a snapshot that was lost, and no new ledger.
    if (given.length === 0) return;
    this.#bytes = unpacked(checked(given[0]));
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
    const packed = pack(this.#bytes.subarray(0, this.#length));
    const whole = new Uint8Array(HEAD_BYTES + packed.length);
    whole.set(MAGIC);
    whole.set(hashOf(packed), MAGIC.length);
    whole.set(packed, HEAD_BYTES);
    return whole;
  }
}

/** The length, eight bytes; then each block that is not all zeros: its number, four bytes, and its bytes. Numbers are little-endian. */
function pack(image: Uint8Array): Uint8Array {
  const blocks: number[] = [];
  for (let at = 0; at < image.length; at += BLOCK_BYTES) {
    if (image.subarray(at, at + BLOCK_BYTES).some((byte) => byte !== 0)) blocks.push(at / BLOCK_BYTES);
  }
  const packed = new Uint8Array(8 + blocks.length * (4 + BLOCK_BYTES));
  const view = new DataView(packed.buffer);
  view.setBigUint64(0, BigInt(image.length), true);
  for (const [at, block] of blocks.entries()) {
    const start = 8 + at * (4 + BLOCK_BYTES);
    view.setUint32(start, block, true);
    packed.set(image.subarray(block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES), start + 4);
  }
  return packed;
}

function unpacked(packed: Uint8Array): Uint8Array<ArrayBuffer> {
  if (packed.length < 8 || (packed.length - 8) % (4 + BLOCK_BYTES) !== 0) throw unmade();
  const view = new DataView(packed.buffer, packed.byteOffset, packed.length);
  const image = zeros(Number(view.getBigUint64(0, true)));
  for (let at = 8; at < packed.length; at += 4 + BLOCK_BYTES) {
    const start = view.getUint32(at, true) * BLOCK_BYTES;
    if (start >= image.length) throw unmade();
    image.set(packed.subarray(at + 4, at + 4 + Math.min(BLOCK_BYTES, image.length - start)), start);
  }
  return image;
}

function zeros(length: number): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(length);
  } catch {
    throw unmade();
  }
}

/** Its checksum is right, and no ledger has written it. */
const unmade = () => new KeyledgerError("corrupt", "the snapshot is damaged: its parts do not fit together; take an earlier one");

function hashOf(packed: Uint8Array): Uint8Array {
  return new TextEncoder().encode(NativeFingerprint.ofBytes([packed]).hex);
}

function checked(snapshot: unknown): Uint8Array {
  const equal = (found: Uint8Array, wanted: Uint8Array) =>
    found.length === wanted.length && wanted.every((byte, at) => byte === found[at]);
  if (!isBytes(snapshot) || snapshot.length === 0 || !equal(snapshot.subarray(0, MAGIC.length), MAGIC)) {
    throw new KeyledgerError("wrong_format", "these bytes are no snapshot of a ledger, or one of a later version");
  }
  const packed = snapshot.subarray(HEAD_BYTES);
  if (!equal(snapshot.subarray(MAGIC.length, HEAD_BYTES), hashOf(packed))) {
    throw new KeyledgerError("corrupt", "the snapshot is damaged: its checksum is another; take an earlier one");
  }
  return packed;
}
