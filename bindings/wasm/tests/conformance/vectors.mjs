// Fingerprints and derived keys: equal hex to every other language (section 8). Throws at the first that differs; says how many there are.

import { fromHex } from "./values.mjs";

const text = (one) => ("hex" in one ? fromHex(one.hex) : one.text);
const parts = (one) => one.parts_hex.map(fromHex);
const members = (one) => ({ leaveOut: one.leave_out, only: one.only });

function double(bits) {
  return new DataView(fromHex(bits).buffer).getFloat64(0);
}

function numbers({ Fingerprint }, one) {
  if (!("sha256" in one)) return same(one, codeOf(() => Fingerprint.ofJson(double(one.bits))), "invalid_argument");
  same(one, Fingerprint.ofJson(double(one.bits)).hex, one.sha256);
  same(one, Fingerprint.ofJsonText(one.text).hex, one.sha256);
}

function codeOf(call) {
  try {
    call();
    return "none";
  } catch (error) {
    return error.code;
  }
}

const refused = ({ Fingerprint }, one) => same(one, codeOf(() => Fingerprint.ofJsonText(text(one))), "invalid_argument");

function http({ Fingerprint }, one) {
  const { method, path, query, content_type: contentType, body_hex, sha256 } = one;
  const request = { method, path, query, contentType: contentType || null, body: fromHex(body_hex), ...members(one) };
  same(one, Fingerprint.ofHttp(request).hex, sha256);
}

const LISTS = {
  json: ({ Fingerprint }, one) => same(one, Fingerprint.ofJsonText(text(one)).hex, one.sha256),
  numbers,
  refused,
  pointers: ({ Fingerprint }, one) => same(one, Fingerprint.ofJsonText(text(one), members(one)).hex, one.sha256),
  bytes: ({ Fingerprint }, one) => same(one, Fingerprint.ofBytes(...parts(one)).hex, one.sha256),
  http,
  derive: ({ deriveKey }, one) => same(one, deriveKey(one.namespace, ...parts(one)), one.key),
  claim_derive: ({ deriveKeyFor }, one) => same(one, deriveKeyFor(one, one.name), one.derived),
};

function same(one, found, wanted) {
  if (found !== wanted) throw new Error(`${JSON.stringify(one).slice(0, 300)}: found ${found}, expected ${wanted}`);
}

export function runVectors(kit, vectors) {
  let count = 0;
  for (const [list, run] of Object.entries(LISTS)) {
    for (const one of vectors[list]) {
      run(kit, one);
      count += 1;
    }
  }
  return count;
}
