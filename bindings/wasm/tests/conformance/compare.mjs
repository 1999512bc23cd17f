// What happened against what was expected, by the rules of bindings/conformance/README.md.

import { expectedResponse, isBytes, shownBytes, toBytes } from "./values.mjs";

const BYTES = new Set(["memo", "value", "request"]);
const RESPONSES = new Set(["response", "replayed_failure"]);

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/** Where they differ first; null where `actual` is as `expected` says. */
export function difference(expected, actual, names, path = "") {
  if (isObject(expected)) {
    if ("at_least" in expected || "at_most" in expected) return outside(path, expected, actual);
    if (isBytes(expected)) return equal(path, shownBytes(toBytes(expected)), actual);
    if (isObject(actual)) {
      for (const [name, value] of Object.entries(expected)) {
        const told = member(path, name, value, actual, names);
        if (told) return told;
      }
      return null;
    }
  }
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length) {
    for (const [at, value] of expected.entries()) {
      const told = difference(value, actual[at], names, `${path}/${at}`);
      if (told) return told;
    }
    return null;
  }
  return equal(path, expected, actual);
}

function member(above, name, expected, actual, names) {
  const path = `${above}/${name}`;
  switch (name) {
    case "any_order":
      return null;
    case "fence_above":
      return actual.fence > names.fences.get(expected) ? null : `${path}: ${actual.fence} is not above ${names.fences.get(expected)}`;
    case "fence_equals":
      return equal(path, names.fences.get(expected), actual.fence);
    case "is":
      return entry(path, expected, actual.id, names.entries, "id");
    case "successor_is":
      return entry(path, expected, actual.successor, names.entries, "id");
    case "key_of":
      return entry(path, expected, actual.key, names.entries, "key");
    case "message_has":
      return actual.message?.includes(expected) ? null : `${path}: expected ${expected} in ${actual.message}`;
  }
  if (RESPONSES.has(name)) return difference(expectedResponse(expected), actual[name], names, path);
  if (BYTES.has(name)) return equal(path, expected === null ? null : shownBytes(toBytes(expected)), actual[name]);
  if (!(name in actual)) return `${path}: expected ${short(expected)}, and there is no such member`;
  return difference(expected, actual[name], names, path);
}

function entry(path, name, found, entries, which) {
  if (!entries.has(name)) return `${path}: there is no entry of the name ${name}`;
  return equal(path, entries.get(name)[which], found);
}

function outside(path, { at_least = -Infinity, at_most = Infinity }, actual) {
  const isIn = typeof actual === "number" && at_least <= actual && actual <= at_most;
  return isIn ? null : `${path}: expected ${at_least} to ${at_most}, found ${short(actual)}`;
}

function equal(path, expected, actual) {
  const same = JSON.stringify(expected) === JSON.stringify(actual) && expected !== undefined;
  return same ? null : `${path}: expected ${short(expected)}, found ${short(actual)}`;
}

const short = (value) => String(JSON.stringify(value)).slice(0, 300);
