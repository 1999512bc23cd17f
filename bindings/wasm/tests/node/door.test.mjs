// Slips of whoever calls: each is told at once, with a code and with what to do, here and of a ledger that lives elsewhere.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { across } from "./border.mjs";
import { folder, installed, kit, scratch } from "./kit.mjs";

const { Batch, FetchTransport, Fingerprint, HttpRequest, Ledger, Operation, ScriptedTransport, deriveKey, httpOfStored, idempotent, storedHttp } = kit;
const charge = Operation.repeatable("charge");
const unchecked = () => Fingerprint.unchecked();
const refused = (words) => ({ name: "KeyledgerError", code: "invalid_argument", message: words });
const url = "https://bank.example/charges";
const files = folder();

/** Calls `f` with the ledger of this thread, and with one that lives elsewhere. */
async function both(t, f) {
  const { direct, remote } = across(t);
  for (const ledger of [direct, remote]) await f(ledger);
}

/** What a call came to that may throw at once. */
const called = async (call) => call();

test("an operation and a fingerprint that are none are named (L2)", (t) =>
  both(t, async (ledger) => {
    const operation = refused(/^an operation is declared, .*; this is a string$/);
    for (const call of [
      () => ledger.begin("charge", "t", "k", unchecked()),
      () => ledger.run("charge", "t", "k", unchecked(), () => "x"),
      () => ledger.beginMany([{ operation: "charge", scope: "t", key: "k", fingerprint: unchecked() }]),
      () => ledger.ask("charge", "t", "k", unchecked()),
      () => ledger.lookup("charge", "t", "k"),
      () => ledger.recover("charge", 1),
      () => ledger.declare("charge"),
    ]) await assert.rejects(called(call), operation, String(call));
    const fingerprint = refused(/^a fingerprint is made of the request, .* this is undefined$/);
    for (const call of [() => ledger.begin(charge, "t", "k"), () => ledger.ask(charge, "t", "k")]) await assert.rejects(called(call), fingerprint);
    await assert.rejects(called(() => ledger.begin(charge, "t", "k", "f")), refused(/this is a string/));
    await assert.rejects(called(() => ledger.begin(charge, "t", 5, unchecked())), { code: "invalid_key", message: /the key is text; this is a number/ });
  }));

test("a scan says how many rows at most", (t) =>
  both(t, async (ledger) => {
    for (const range of [undefined, null, {}, { limit: "5" }]) await assert.rejects(called(() => ledger.scan("t", range)), refused(/\{ from, to, limit \}/));
  }));

test("what a request is for is told by name", (t) =>
  both(t, async (ledger) => {
    const outbox = ledger.outbox();
    const wishes = { scope: "u", operation: "o" };
    for (const [given, words] of [
      [undefined, /\{ scope, operation \}/],
      ["u", /\{ scope, operation \}/],
      [{ scope: "u" }, /^the operation of a request is text; this is undefined$/],
      [{ ...wishes, purpose: 42 }, /^the purpose of a request is text; this is a number$/],
      [{ ...wishes, lane: 1 }, /^the lane /],
      [{ ...wishes, fingerprint: "f" }, /a fingerprint is made/],
      [{ ...wishes, purpos: "cart" }, /^enqueue has no setting purpos; it has scope, operation, purpose,/],
    ]) {
      await assert.rejects(outbox.enqueue("x", given), refused(words));
      await assert.rejects(ledger.apply(new Batch().enqueue(outbox, "x", given)), refused(words));
    }
    await assert.rejects(outbox.enqueue("x", { operation: "o" }), { code: "invalid_key", message: /the scope is text; this is undefined/ });
    await assert.rejects(outbox.enqueue("x", { ...wishes, key: 7 }), { code: "invalid_key" });
    assert.equal((await outbox.stats()).unsettled, 0);
  }));

test("a number where text is expected reads no memory that is not its own", async (t) => {
  const { direct } = across(t);
  const text = refused(/^a number, where text is expected$/);
  const { claim } = direct.beginSync(charge, "t", "k", unchecked());
  assert.throws(() => claim.deriveKey(5), text);
  assert.throws(() => claim.parkSync(5), text);
  assert.throws(() => deriveKey(5, "x"), text);
  assert.throws(() => Operation.repeatable(5).leaseMs, text);
  assert.throws(() => direct.applySync(new Batch().put(5, "a", "b")), text);
  assert.throws(() => direct.getSync(5, "a"), text);
  assert.throws(() => direct.outbox().resumeSync(5), text);
  assert.throws(() => direct.outbox().find("u", 5), text);
  await assert.rejects(direct.outbox().drain(5, new ScriptedTransport()), text);
  await claim.complete("goes on");
  assert.ok(direct.checkSync().isWell);
});

test("an object of another kind is named, with a code", (t) => {
  const { direct } = across(t);
  assert.throws(() => direct.outbox().settleSync({ native: charge.native }), refused(/NativeOperation, where a Report is expected/));
});

test("a setting that there is none of is refused by its name, wherever settings are given", async (t) => {
  const none = (name) => refused(new RegExp(` has no setting ${name}; it has \\w`));
  const path = join(files, "lock.kl");
  for (const one of [{ lock: "none" }, { cachebytes: 1 }]) {
    const [name] = Object.keys(one);
    assert.throws(() => Ledger.openSync(path, one), none(name));
    assert.throws(() => Ledger.inMemorySync(one), none(name));
    await assert.rejects((await installed("./worker")).Ledger.open(path, one), none(name));
  }
  assert.ok(!existsSync(path));
  for (const make of [Operation.repeatable, Operation.atMostOnce, Operation.inLedger]) assert.throws(() => make("o", { leaseMS: 5 }), none("leaseMS"));
  assert.throws(() => Operation.repeatable("o", 5000), refused(/takes an object of settings; this is a number/));
  assert.throws(() => new FetchTransport({ autorize: () => ({}) }), none("autorize"));
  assert.throws(() => new FetchTransport({ keyField: { name: "Key" } }).request({ method: "POST", url, json: {} }), none("json"));
  assert.throws(() => HttpRequest.of({ method: "POST", url }, { keyfield: {} }), none("keyfield"));
  await both(t, async (ledger) => {
    const outbox = ledger.outbox();
    const sends = () => ledger.outbox().driver("u", typeof ledger.beginSync === "function" ? new FetchTransport({ autorize: () => ({}) }) : { autorize: () => ({}) });
    await assert.rejects(called(sends), none("autorize"));
    await assert.rejects(called(() => ledger.begin(charge, "t", "k", unchecked(), { waitMS: 5 })), none("waitMS"));
    await assert.rejects(called(() => ledger.run(charge, "t", "k", unchecked(), () => "", { mean: () => "not_done" })), none("mean"));
    await assert.rejects(called(() => ledger.begin(charge, "t", "k", unchecked(), { means: () => "not_done" })), none("means"));
    await assert.rejects(called(() => ledger.beginMany([{ operation: charge, scope: "t", key: "k", fingerprint: unchecked(), waitMS: 5 }])), none("waitMS"));
    for (const wait of [{ waitMs: 5 }, { signal: AbortSignal.abort() }]) {
      const begin = { operation: charge, scope: "t", key: "k", fingerprint: unchecked(), ...wait };
      await assert.rejects(called(() => ledger.beginMany([begin])), none(Object.keys(wait)[0]));
    }
    const id = { scope: "t", operation: "charge", key: "k" };
    await assert.rejects(called(() => ledger.forget(id, { evenIfUnknwn: true })), none("evenIfUnknwn"));
    await assert.rejects(called(() => ledger.forgetScope("t", { evenIfUnknwn: true })), none("evenIfUnknwn"));
    await assert.rejects(called(() => ledger.compact({ evenWithClaim: true })), none("evenWithClaim"));
    await assert.rejects(called(() => ledger.scan("t", { form: "a", limit: 1 })), none("form"));
    await assert.rejects(called(() => ledger.list({ scop: "t" }).next()), none("scop"));
    await assert.rejects(called(() => ledger.resolveMany({ scop: "t" }, "not_done", "ada", "all")), none("scop"));
    await assert.rejects(called(() => outbox.list({ lan: "t" }).next()), none("lan"));
    await assert.rejects(called(() => outbox.driver("u", new FetchTransport(), { inflight: 1 })), none("inflight"));
    await assert.rejects(called(() => outbox.drain("u", new FetchTransport(), { untilMS: 1 })), none("untilMS"));
    await assert.rejects(called(() => outbox.wait(1, { timeout: 1 })), none("timeout"));
    await assert.rejects(called(() => outbox.result(1, { timeout: 1 })), none("timeout"));
    await assert.rejects(called(() => outbox.changes({ form: 1 }).next()), none("form"));
    await assert.rejects(called(() => outbox.changesOf(1, { timeoutMs: 1 }).next()), none("timeoutMs"));
    await assert.rejects(called(() => outbox.driver("u", new FetchTransport(), { untilMs: 1 })), none("untilMs"));
    const driver = outbox.driver("u", new FetchTransport());
    await assert.rejects(driver.drain({ untilMS: 1 }), none("untilMS"));
    await assert.rejects(driver.tick({ inFlight: 1 }), none("inFlight"));
    await assert.rejects(driver.stop({ timeout: 1 }), none("timeout"));
    for (const [settings, name] of [
      [{ lanes: [{ name: "l", isordered: true }] }, "isordered"],
      [{ backoff: { baseMs: 1, capMs: 1, multiplyer: 2 } }, "multiplyer"],
      [{ retryBudget: { retries: 1, refilMs: 1 } }, "refilMs"],
      [{ bounds: { entries: 1, byte: 1 } }, "byte"],
    ]) await assert.rejects(called(async () => (await ledger.outbox(settings).stats())), none(name));
    await assert.rejects(called(async () => (await ledger.outbox({ maxTry: 1 }).stats())), none("maxTry"));
    await assert.rejects(called(() => outbox.enqueue({ method: "POST", url, data: {} }, { scope: "u", operation: "o" })), none("data"));
  });
  const { remote, direct } = across(t);
  const route = { ledger: direct, key: "required", effect: "repeatable", scope: () => "t" };
  assert.throws(() => idempotent(() => new Response(), { ...route, leasems: 5 }), none("leasems"));
  for (const settings of [{ waitMs: 5 }, { signal: AbortSignal.timeout(1) }]) assert.throws(() => direct.beginSync(charge, "t", "k", unchecked(), settings), none(Object.keys(settings)[0]));
  assert.throws(() => direct.outbox().changesSync({ signal: 1 }).next(), none("signal"));
  assert.throws(() => Fingerprint.ofJson({}, { leaveout: ["/a"] }), none("leaveout"));
  assert.throws(() => Fingerprint.ofHttp({ method: "POST", path: "/", Body: "" }), none("Body"));
  assert.throws(() => storedHttp({ status: 200, header: [] }), none("header"));
  assert.throws(() => storedHttp({ status: 200 }, { maxBytes: 1 }), none("maxBytes"));
  assert.throws(() => httpOfStored(storedHttp({ status: 200 }), { fail: true }), none("fail"));
  assert.throws(() => new FetchTransport({ keyField: { nam: "Key" } }), none("nam"));
  assert.throws(() => remote.outbox().driver("u", { credential: "same-origin" }), none("credential"));
});

test("an operation that there cannot be is refused where it is declared, in every form", () => {
  const forms = [Operation.repeatable, Operation.atMostOnce, Operation.inLedger, (name, settings) => new Operation(name, "repeatable", settings)];
  const numbers = ["leaseMs", "retentionMs", "tombstoneMs", "rememberedForMs", "maxAttempts"];
  for (const declare of forms) {
    for (const name of numbers) {
      for (const odd of [-5, -0.1, NaN, -Infinity, "5", 5n, {}]) assert.throws(() => declare("o", { [name]: odd }), refused(new RegExp(`^the ${name} of an operation is a number of zero or more; this is `)));
    }
    assert.throws(() => declare("o", { leaseMs: 0 }), { code: "invalid_argument" });
    assert.throws(() => declare("o", { maxAttempts: 0 }), { code: "invalid_argument" });
    for (const name of ["", "a\nb", "x".repeat(256), HALF]) assert.throws(() => declare(name), { code: "invalid_key" });
    assert.equal(declare("o", { leaseMs: 1, retentionMs: 0, tombstoneMs: Infinity, rememberedForMs: 0, maxAttempts: 1 }).leaseMs, 1);
  }
  assert.throws(() => new Operation("o", "twice"), refused(/an effect is one of in_ledger, repeatable, at_most_once; not twice/));
});

test("a clock of tests that begins at no number is refused where it is made", () => {
  for (const none of [undefined, null, new Date(), "0", NaN]) assert.throws(() => new kit.ManualClock(none), refused(/^a ManualClock begins at milliseconds since 1970/));
  assert.equal(new kit.ManualClock(-1).wallMs(), -1);
});

test("a file that cannot be opened says what to do about it", () => {
  mkdirSync(join(files, "taken.kl"));
  const told = (path) => {
    try {
      Ledger.openSync(join(files, path));
    } catch ({ code, message }) {
      return [code, message.slice(message.lastIndexOf("; ") + 2)];
    }
  };
  assert.deepEqual(told("nowhere/x.kl"), ["unavailable", "its folder must exist: make it first"]);
  assert.deepEqual(told("taken.kl"), ["wrong_format", "nothing was changed, choose another path"]);
});

test("the stack of an error leads to whoever called, and says nothing of the module's inside", async (t) => {
  const { direct } = across(t);
  const whoCalled = () => direct.beginSync(charge, "", "k", unchecked());
  let error;
  assert.throws(whoCalled, (thrown) => Boolean((error = thrown)));
  assert.match(error.stack, /^[^\n]*: [^\n]*\n\s+at [^\n]*ledger\.js[^]*\n\s+at whoCalled /);
  assert.doesNotMatch(error.stack, /wasm:|native.keyledger\.js|raised\.js/);
  assert.equal(error.message, error.stack.split("\n")[0].replace(/^[^:]*: /, ""));
});

/** Two halves of a surrogate pair, alone: as UTF-8 both would be U+FFFD, and two texts one. */
const [HALF, OTHER] = ["\ud800", "\udfff"];

test("half a surrogate pair is refused wherever it would name something, and nothing is stored (L1, L2, F2)", (t) =>
  both(t, async (ledger) => {
    const outbox = ledger.outbox();
    const id = { scope: "s", operation: "charge", key: "k" };
    const wishes = { scope: "u", operation: "o", purpose: "p" };
    for (const half of [HALF, OTHER]) {
      const calls = [
        () => ledger.begin(charge, half, "k", unchecked()),
        () => ledger.begin(charge, "s", half, unchecked()),
        () => ledger.begin(Operation.repeatable(half), "s", "k", unchecked()),
        () => ledger.beginMany([{ operation: Operation.repeatable(half), scope: "s", key: "k", fingerprint: unchecked() }]),
        () => ledger.lookup(charge, half, "k"),
        () => ledger.inspect({ ...id, operation: half }),
        () => ledger.forget({ ...id, key: half }),
        () => ledger.forgetScope(half),
        () => ledger.settle({ ...id, scope: half }, 1, "release"),
        () => ledger.get(half, "k"),
        () => ledger.scan(half, { limit: 1 }),
        () => ledger.apply(new Batch().put(half, "k", "v")),
        () => ledger.list({ scope: half }).next(),
        ...["scope", "operation", "purpose", "lane", "key"].map((name) => () => outbox.enqueue("x", { ...wishes, [name]: half })),
        () => outbox.find(half, "p"),
        () => outbox.find("u", half),
        () => outbox.resume(half),
        () => outbox.nextWakeup(half),
        async () => ledger.outbox({ lanes: [{ name: half }] }).stats(),
      ];
      for (const call of calls) await assert.rejects(called(call), { code: "invalid_key" }, String(call));
      const texts = [() => ledger.get("t", half), () => ledger.apply(new Batch().put("t", half, "v")), () => outbox.enqueue(half, wishes)];
      for (const call of texts) await assert.rejects(called(call), { code: "invalid_argument" }, String(call));
    }
    assert.equal((await ledger.check()).records, 0);
    assert.equal((await outbox.stats()).unsettled, 0);
    assert.deepEqual(await ledger.scan("t", { limit: 9 }), []);
  }));

test("half a surrogate pair is refused in every list of words: a route's settings, members, fields, lanes", (t) => {
  const { direct } = across(t);
  const route = { ledger: direct, key: "required", effect: "repeatable", scope: () => "ada" };
  for (const half of [HALF, `/a${OTHER}`]) {
    const lists = [
      ...["methods", "otherMethods", "leaveOut", "only", "notKept"].map((name) => () => idempotent(() => new Response(), { ...route, [name]: ["/x", half] })),
      () => idempotent(() => new Response(), { ...route, documentation: half }),
      () => Fingerprint.ofJson({}, { leaveOut: [half] }),
      () => Fingerprint.ofJson({}, { only: [half] }),
      () => Fingerprint.ofHttp({ method: "POST", path: "/", leaveOut: [half] }),
      () => storedHttp({ status: 200, headers: [[half, "1"]] }),
      () => HttpRequest.of({ method: "POST", url }, { secret: [half] }),
      () => direct.outbox({ lanes: [{ name: "l", isOrdered: true, onStuckHead: half }] }),
    ];
    for (const call of lists) assert.throws(call, { code: "invalid_argument", message: /half a surrogate pair/ }, String(call));
  }
  assert.equal(Fingerprint.ofJson({ "\ufffd": 1, a: 1 }, { leaveOut: ["/\ufffd"] }).hex, Fingerprint.ofJson({ a: 1 }).hex);
});

test("half a surrogate pair is refused in what keys and fingerprints are made of, and in a transaction (F2, F6, E3)", (t) => {
  const ledger = across(t).direct;
  const { claim } = ledger.beginSync(charge, "s", "k", unchecked());
  for (const half of [HALF, OTHER]) {
    for (const call of [
      () => deriveKey(half, "part"),
      () => deriveKey("namespace", half),
      () => claim.deriveKey(half),
      () => Fingerprint.ofBytes("a", half),
      () => Fingerprint.ofHttp({ method: "POST", path: half }),
      () => ledger.transactionSync((tx) => tx.put(half, "k", "v")),
      () => ledger.transactionSync((tx) => tx.put("t", half, "v")),
      () => ledger.transactionSync((tx) => tx.complete({ keyId: { scope: "s", operation: half, key: "k" }, fence: 1 }, "x")),
    ]) assert.throws(call, ({ code }) => code === "invalid_key" || code === "invalid_argument", String(call));
  }
  assert.notEqual(deriveKey("namespace", "😀"), deriveKey("namespace", "😁"));
});

test("what was done is stored, though its words end in the middle of a character: the same to all who are told (S4)", (t) =>
  both(t, async (ledger) => {
    const key = crypto.randomUUID();
    const run = (key, answer) => ledger.run(charge, "s", key, unchecked(), answer);
    const first = await run(key, () => "paid 😀".slice(0, -1));
    assert.equal(first.text(), "paid \ufffd");
    assert.equal((await run(key, () => "again")).text(), "paid \ufffd");
    const { claim } = await ledger.begin(charge, "s", `${key} parked`, unchecked());
    await claim.park("no word from 😀".slice(0, -1));
    assert.equal((await ledger.inspect(claim.keyId)).parkedReason, "no word from \ufffd");
    const step = (await ledger.begin(charge, "s", `${key} step`, unchecked())).claim;
    await step.step("mail", () => "sent 😀".slice(0, -1));
    await step.complete("done");
  }));

test("what needs the module before it is loaded says so", () => {
  const memory = pathToFileURL(join(scratch, "node_modules/keyledger/dist/memory.js")).href;
  const program = `import { Fingerprint, load } from ${JSON.stringify(memory)};
    import { readFileSync } from "node:fs";
    try { Fingerprint.ofJsonText("{}"); } catch (error) { console.log(error.code, error.message.includes("await load()")); }
    await load(readFileSync(new URL("native/keyledger_bg.wasm", ${JSON.stringify(memory)})));
    console.log(typeof Fingerprint.ofJsonText("{}").hex);`;
  const told = execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  assert.equal(told, "unavailable true\nstring\n");
});
