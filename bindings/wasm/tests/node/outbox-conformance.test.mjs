// Every scenario of the core's outbox, in memory and on a file: a file of its own, so that it runs beside the others.

import assert from "node:assert/strict";
import { test } from "node:test";
import { isOfTheOutbox, testScenarios } from "./scenarios.mjs";

const left = testScenarios(isOfTheOutbox);

test("none is left out", () => {
  assert.deepEqual(left, []);
});
