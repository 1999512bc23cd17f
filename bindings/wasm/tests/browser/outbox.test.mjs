// The tabs of an origin share one outbox: who leads sends, and each request arrives by one key.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { randomOf, shake, waited } from "./shake.mjs";
import { launch, profile, serve } from "./stage.mjs";

const LIMIT = { timeout: 400_000 };

/** What has arrived, and what the server does with what arrives: `"silence"`, `"cut"`, or a status, after some milliseconds. */
const arrived = [];
let reply = () => 201;
let [under, most] = [0, 0];

async function charges(request, response) {
  let body = "";
  for await (const chunk of request) body += chunk;
  const { "idempotency-key": key, cookie, authorization } = request.headers;
  arrived.push({ key, body, cookie, authorization });
  most = Math.max(most, (under += 1));
  response.on("close", () => (under -= 1));
  const [said, ms = 0] = [reply(body)].flat();
  if (said === "silence") return;
  await new Promise((resolve) => setTimeout(resolve, ms));
  if (said === "cut") request.socket.destroy();
  else response.writeHead(said).end(`charged ${body}`);
}

const server = await serve({ "/charges": charges });
after(() => server.close());

const told = (name) => server.told.flatMap((what) => what[name] ?? []);
const keysOf = (body) => new Set(arrived.filter((one) => one.body === body).map(({ key }) => key));

/** A browser of its own, and a server that has seen nothing. */
async function launched(t, replies = () => 201) {
  [arrived.length, server.told.length, most, reply] = [0, 0, 0, replies];
  const context = await launch(profile());
  t.after(() => context.close().catch(() => undefined));
  return async () => {
    const page = await context.newPage();
    await page.goto(server.page);
    await page.waitForFunction(() => globalThis.tab);
    return page;
  };
}

test("a tab that does not lead enqueues, waits and cancels; one driver sends for all that want it", LIMIT, async (t) => {
  const opened = await launched(t, () => [201, 20]);
  const [leader, other] = [await opened(), await opened()];
  for (const page of [leader, other]) await page.evaluate(() => tab.drive(undefined, { inFlight: 1 }));
  const answer = await other.evaluate(async () => {
    const many = await Promise.all(["a", "b", "c", "d"].map((body) => tab.enqueue(body)));
    const answers = await Promise.all(many.map(({ entry }) => entry.result()));
    return tab.keyledger.httpAnswer(answers[0]).text();
  });
  assert.equal(answer, "charged a");
  assert.deepEqual([arrived.length, most], [4, 1]);
  await other.evaluate(() => globalThis.driver.stop());
  assert.equal(await other.evaluate(async () => (await (await tab.enqueue("e")).entry.result()).mediaType), "application/http");
  await leader.evaluate(() => globalThis.driver.stop());
  const [isCancelled, code, changes] = await other.evaluate(async () => {
    const [outbox, { entry }] = [await tab.outbox(), await tab.enqueue("f", "buy f")];
    const conflict = await tab.enqueue("g", "buy f").catch((error) => error);
    const { isCancelled } = await outbox.cancel(entry.id);
    const changes = [];
    for await (const { state } of outbox.changes({ after: entry.change - 1 })) {
      changes.push(state);
      break;
    }
    return [isCancelled, conflict.code && conflict.entry.id === entry.id && conflict.code, changes];
  });
  assert.deepEqual([isCancelled, code, changes], [true, "purpose_conflict", ["cancelled"]]);
  assert.equal(keysOf("f").size, 0);
});

test("a tab that does not lead completes a claim and enqueues in one commit; the leader sends it (E2, O1)", LIMIT, async (t) => {
  const opened = await launched(t);
  const [leader, other] = [await opened(), await opened()];
  await leader.evaluate(() => tab.drive());
  const told = await other.evaluate(async () => {
    const [ledger, outbox, { Batch, Fingerprint }] = [await tab.open(), await tab.outbox(), tab.keyledger];
    const { claim } = await ledger.begin(tab.charge, "user", "k", Fingerprint.unchecked());
    const request = { method: "POST", url: new URL("/charges", location.href), body: "of a batch" };
    const batch = new Batch().put("wallet", "ann", "5").enqueue(outbox, request, { scope: "user", operation: "charge", purpose: "buy" });
    const stored = await claim.completeBatch(batch, "bought");
    await ledger.reopen();
    const answer = await (await outbox.find("user", "buy")).result();
    return [stored.text(), new TextDecoder().decode(await ledger.get("wallet", "ann")), await tab.keyledger.httpAnswer(answer).text()];
  });
  assert.deepEqual(told, ["bought", "5", "charged of a batch"]);
  assert.equal(keysOf("of a batch").size, 1);
});

test("a drain tells a tab how far it is, whoever leads; what that throws ends it", LIMIT, async (t) => {
  const opened = await launched(t);
  const pages = [await opened(), await opened()];
  for (const page of pages) {
    const told = await page.evaluate(async () => {
      const [outbox, steps] = [await tab.outbox(), []];
      for (const body of ["a", "b"]) await tab.enqueue(body);
      await outbox.drain("user", {}, { onProgress: ({ settled, remaining }) => steps.push(`${settled} of ${settled + remaining}`) });
      const broken = outbox.drain("user", {}, { onProgress: () => { throw new Error("mine"); } });
      return [steps[0], steps.at(-1), await broken.catch(({ message }) => message)];
    });
    assert.deepEqual(told, ["0 of 2", "2 of 2", "mine"]);
  }
});

test("cookies go with a request where the driver is told so, and not otherwise (O14)", LIMIT, async (t) => {
  const opened = await launched(t);
  const page = await opened();
  for (const [body, transport] of [["without", {}], ["with", { credentials: "same-origin" }]]) {
    await page.evaluate(
      async ([body, transport]) => {
        document.cookie = "session=ada; path=/";
        await tab.drive(transport);
        await (await tab.enqueue(body)).entry.result();
        await globalThis.driver.stop();
      },
      [body, transport],
    );
  }
  assert.deepEqual(arrived.map(({ body, cookie }) => [body, cookie]), [["without", undefined], ["with", "session=ada"]]);
});

test("credentials are given by a tab that wants the driver, whoever leads: the last one, and when it is gone the one before (O14)", LIMIT, async (t) => {
  const opened = await launched(t);
  const pages = [await opened(), await opened(), await opened()];
  for (const [at, page] of pages.entries()) {
    await page.evaluate((name) => tab.drive({ authorize: async (scope) => ({ authorization: `Bearer ${name} for ${scope}` }) }), `tab ${at}`);
  }
  const answered = (page, body) => page.evaluate(async (body) => (await (await tab.enqueue(body)).entry.result()).mediaType, body);
  await answered(pages[1], "a");
  await pages[2].close();
  await answered(pages[1], "b");
  await pages[0].close();
  await answered(pages[1], "c");
  const given = arrived.map(({ body, authorization }) => `${body}: ${authorization}`);
  assert.deepEqual(given, ["a: Bearer tab 2 for user", "b: Bearer tab 1 for user", "c: Bearer tab 1 for user"]);
});

test("while the browser is offline nothing is tried and all can be cancelled; when it is online again, what is due is sent at once (O6, O10)", LIMIT, async (t) => {
  const opened = await launched(t);
  const page = await opened();
  await page.evaluate(() => tab.drive().then(() => tab.enqueue("before")).then(({ entry }) => entry.result()));
  await page.context().setOffline(true);
  const [isCancelled, tries] = await page.evaluate(async () => {
    const [outbox, { entry: unwanted }, { entry }] = [await tab.outbox(), await tab.enqueue("unwanted"), await tab.enqueue("wanted")];
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    globalThis.answer = entry.result();
    return [(await outbox.cancel(unwanted.id)).isCancelled, (await outbox.get(entry.id)).tries];
  });
  assert.deepEqual([isCancelled, tries, arrived.length], [true, 0, 1]);
  const onlineMs = performance.now();
  await page.context().setOffline(false);
  await page.evaluate(() => globalThis.answer);
  assert.ok(performance.now() - onlineMs < 3_000, `${performance.now() - onlineMs} ms`);
  assert.deepEqual(arrived.map(({ body }) => body), ["before", "wanted"]);
});

test("the leading tab goes with requests in flight: the next one sends them again, each with its key, and nobody starts it", LIMIT, async (t) => {
  for (const goes of ["close", "reload", "crash"]) {
    const opened = await launched(t, () => "silence");
    const [leader, other] = [await opened(), await opened()];
    await leader.evaluate(() => tab.drive());
    await other.evaluate(() => tab.drive());
    const bodies = ["a", "b", "c"].map((body) => `${goes} ${body}`);
    await leader.evaluate((bodies) => Promise.all(bodies.map((body) => tab.enqueue(body))), bodies);
    while (arrived.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    reply = () => 201;
    const wentMs = performance.now();
    if (goes === "crash") await leader.goto("chrome://crash").catch(() => undefined);
    else if (goes === "reload") await leader.reload();
    else await leader.close();
    assert.equal((await other.evaluate(() => tab.sent())).answered, 3);
    const tookMs = Math.round(performance.now() - wentMs);
    console.log(`${goes}: all was sent ${tookMs} ms later`);
    assert.ok(tookMs < 5_000, `${tookMs} ms`);
    for (const body of bodies) assert.equal(keysOf(body).size, 1, body);
    assert.ok(arrived.length >= 6, "what was in flight was sent again");
  }
});

test("a leading tab that is frozen gives the lead away, though it waits for an answer; it has it when it is back", LIMIT, async (t) => {
  const opened = await launched(t, () => "silence");
  const [leader, other] = [await opened(), await opened()];
  await leader.evaluate(async () => {
    await tab.drive();
    const { entry } = await tab.enqueue("of the frozen");
    globalThis.answer = entry.result().then(({ mediaType }) => mediaType);
  });
  await other.evaluate(() => tab.drive());
  while (arrived.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  reply = () => 201;
  const leads = () =>
    other.evaluate(async () => (await navigator.locks.query()).held.find(({ name }) => name === "keyledger lead shop")?.clientId);
  const before = await leads();
  // A browser without a screen hides no page, and so freezes none.
  await leader.evaluate(() => document.dispatchEvent(new Event("freeze")));
  for (let now = before; now === before || !now; now = await leads());
  assert.equal((await other.evaluate(() => tab.enqueue("of the other").then(tab.sent))).answered, 2);
  await leader.evaluate(() => document.dispatchEvent(new Event("resume")));
  assert.equal(await leader.evaluate(() => globalThis.answer), "application/http");
  for (const body of ["of the frozen", "of the other"]) assert.equal(keysOf(body).size, 1, body);
});

test("five tabs that are opened, reloaded and closed sixty times: none waits five seconds, no entry is lost or sent with two keys", LIMIT, async (t) => {
  const random = randomOf(7);
  const opened = await launched(t, () => [["cut", 503, "silence", ...Array(13).fill(201)][random(16)], random(30)]);
  const seed = await shake(opened, (page, name) => page.evaluate((name) => tab.sendOn(name), name));
  reply = () => 201;
  const last = await opened();
  for (const page of last.context().pages()) if (page !== last) await page.close();
  const counts = await last.evaluate(() => tab.drive().then(tab.sent));
  assert.deepEqual(told("error"), [], `seed ${seed}`);
  const [enqueued, bodies] = [told("enqueued"), [...new Set(arrived.map(({ body }) => body))]];
  assert.deepEqual(enqueued.filter((body) => !bodies.includes(body)), [], `lost; seed ${seed}`);
  assert.deepEqual(bodies.filter((body) => keysOf(body).size !== 1), [], `sent with two keys; seed ${seed}`);
  assert.equal(new Set(arrived.map(({ key }) => key)).size, bodies.length, `seed ${seed}`);
  assert.equal(counts.answered, bodies.length, `seed ${seed}`);
  const [{ longest, words }, answers] = [waited(told("waits")), waited(told("answered"))];
  console.log(`${enqueued.length} entries were enqueued and arrived ${arrived.length} times, ${words}; answers: ${answers.words}; seed ${seed}`);
  assert.ok(enqueued.length > 100 && longest < 5_000, `longest ${longest} ms, seed ${seed}`);
});
