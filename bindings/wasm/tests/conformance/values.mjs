// Between the JSON of scenarios and the values of the package. Runs on every platform: it imports nothing.

const TO_BYTES = new TextEncoder();

export const isBytes = (value) => value !== null && typeof value === "object" && ("hex" in value || "repeat" in value);

export function fromHex(hex) {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

export function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Text as UTF-8, `hex`, or `repeat` and `times`. */
export function toBytes(value) {
  if (typeof value === "string") return TO_BYTES.encode(value);
  return "hex" in value ? fromHex(value.hex) : TO_BYTES.encode(value.repeat.repeat(value.times));
}

/** Text, also what UTF-8 cannot hold: `utf16` in code units. */
export function toText(value) {
  if (typeof value === "object" && "utf16" in value) {
    const units = value.utf16.replaceAll(" ", "").match(/..../g) ?? [];
    return String.fromCharCode(...units.map((unit) => parseInt(unit, 16)));
  }
  return new TextDecoder().decode(toBytes(value));
}

export function shownBytes(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { hex: toHex(bytes) };
  }
}

const plain = (value) => (value !== null && typeof value === "object" ? (value.text ?? value) : value);

export function toResponse({ StoredResponse }, value) {
  if (typeof value === "object" && "empty" in value) return StoredResponse.empty();
  if (typeof value === "object" && "json" in value) return StoredResponse.json(value.json);
  return new StoredResponse(value.media_type ?? "text/plain", toBytes(plain(value)));
}

export function shownResponse({ mediaType, body, omitted }) {
  if (omitted === null) return { media_type: mediaType, body: shownBytes(body) };
  return { media_type: mediaType, omitted: { length: omitted.length, sha256: toHex(omitted.sha256) } };
}

/** In the form of `shownResponse`, with the media type only where it is named. */
export function expectedResponse(value) {
  const shown = {};
  if (typeof value === "object" && "omitted" in value) shown.omitted = value.omitted;
  else if (typeof value === "object" && "empty" in value) shown.body = "";
  else if (typeof value === "object" && "json" in value) shown.body = JSON.stringify(value.json);
  else shown.body = shownBytes(toBytes(plain(value)));
  if (value.media_type !== undefined) shown.media_type = value.media_type;
  return shown;
}

export function toFingerprint({ Fingerprint }, value) {
  if (typeof value === "object" && "unchecked" in value) return Fingerprint.unchecked();
  return Fingerprint.ofBytes(toBytes(value ?? "request-1"));
}

export function toScope({ singleScope }, value) {
  if (value === undefined) return "tenant-1";
  return typeof value === "object" && "single" in value ? singleScope() : toText(value);
}

export const toKey = (value) => (value === undefined ? "key-1" : toText(value));

export const span = (value) => (value === "max" ? Infinity : value);

export const operationName = (declared, alias) => ("name" in declared ? toText(declared.name) : alias);

export function toOperation({ Operation }, declared, alias) {
  const spanOf = (name) => (name in declared ? span(declared[name]) : undefined);
  return new Operation(operationName(declared, alias), declared.effect, {
    leaseMs: spanOf("lease_ms"),
    retentionMs: spanOf("retention_ms"),
    tombstoneMs: spanOf("tombstone_ms"),
    rememberedForMs: spanOf("remembered_for_ms"),
    maxAttempts: declared.max_attempts,
  });
}
