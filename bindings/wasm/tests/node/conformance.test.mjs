// Every scenario of the core but the outbox's, in memory and on a file, and every vector.

import assert from "node:assert/strict";
import { test } from "node:test";
import { runVectors } from "../conformance/vectors.mjs";
import { kit } from "./kit.mjs";
import { isOfTheOutbox, read, testScenarios } from "./scenarios.mjs";

const left = testScenarios((name) => !isOfTheOutbox(name));

test("only what JavaScript cannot say is left out: text of bytes that are no UTF-8", () => {
  assert.deepEqual(left, ["text that is not UTF-8 is refused"]);
});

test("fingerprints and derived keys are those of every other language (F1 to F6, E3)", () => {
  assert.ok(runVectors(kit, read("vectors.json")) > 150);
});
