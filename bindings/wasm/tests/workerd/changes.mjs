// The rows that commits change, as the ledger's own log tells them (docs/format.md): what a store of rows would have to write.

const LOG_START = 4096;
const HEADER_BYTES = 40;
const hex = (bytes) => Buffer.from(bytes).toString("hex");

/** Begins and completes so many keys; says for each commit which keys changed, and to what: pairs of hexadecimal digits, null for none. */
export async function changesOf(kit, count) {
  const store = new kit.MemoryStore();
  const ledger = kit.Ledger.on(store);
  const charge = kit.Operation.repeatable("charge");
  for (let at = 0; at < count; at++) {
    const { claim } = await ledger.begin(charge, "tenant", `key-${at}`, kit.Fingerprint.ofJson({ amount: at }));
    await claim.complete("charged");
  }
  const image = Buffer.alloc(store.length());
  store.read(0, image);
  await ledger.close();
  return [...records(image)];
}

function* records(image) {
  for (let at = LOG_START; image.toString("latin1", at, at + 4) === "klog"; ) {
    const length = image.readUInt32LE(at + 4);
    yield changes(image.subarray(at + HEADER_BYTES, at + HEADER_BYTES + length));
    at += Math.ceil((HEADER_BYTES + length) / 512) * 512;
  }
}

function changes(payload) {
  const found = [];
  for (let at = 0; at < payload.length; ) {
    const [space, isPut, length] = [payload[at], payload[at + 1] === 1, payload.readUInt32LE(at + 2)];
    const key = `${hex([space])}${hex(payload.subarray(at + 6, at + 6 + length))}`;
    at += 6 + length;
    if (!isPut) {
      found.push([key, null]);
      continue;
    }
    const valueLength = payload.readUInt32LE(at);
    found.push([key, hex(payload.subarray(at + 4, at + 4 + valueLength))]);
    at += 4 + valueLength;
  }
  return found;
}
