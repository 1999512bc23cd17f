// What runs in workerd: one object with a ledger in its storage, which is told by name what to do.

import { DurableObject } from "cloudflare:workers";
import { runScenario } from "./conformance/steps.mjs";
import { runVectors } from "./conformance/vectors.mjs";
import { InProcess } from "./http/in-process.mjs";
import { scenariosOf } from "./http/scenarios.mjs";
import { Stage } from "./http/stage.mjs";
import * as keyledger from "./keyledger/durable-object.js";
import { ManualClock } from "./keyledger/testing.js";

const kit = { ...keyledger, ManualClock };
const { Fingerprint, Ledger, Operation } = kit;
const charge = Operation.repeatable("charge");

export default {
  async fetch(request, env) {
    return env.BOOKS.get(env.BOOKS.idFromName("book")).fetch(request);
  },
};

export class Book extends DurableObject {
  async fetch(request) {
    try {
      const told = await this[new URL(request.url).pathname.slice(1)](await request.json());
      return Response.json(told ?? null);
    } catch (error) {
      return new Response(error.stack, { status: 500 });
    }
  }

  get ledger() {
    return (this.opened ??= Ledger.openSync(this.ctx.storage));
  }

  /** One scenario of the core, on rows of its own. */
  async scenario({ loaded, scenario }) {
    const { storage } = this.ctx;
    const rows = () => storage.sql.exec("SELECT page, bytes FROM keyledger_pages").toArray();
    const fill = (image) => {
      for (const { page, bytes } of image) storage.sql.exec("INSERT INTO keyledger_pages VALUES (?, ?)", page, bytes);
    };
    let left;
    storage.sql.exec("DROP TABLE IF EXISTS keyledger_pages");
    await runScenario(kit, loaded, scenario, {
      open: (options) => {
        if (left) {
          storage.sql.exec("DELETE FROM keyledger_pages");
          fill(left);
          left = undefined;
        }
        return Ledger.openSync(storage, options);
      },
      copy: () => void (left = rows()),
      bytes: () => joined(rows()),
    });
  }

  vectors(loaded) {
    return runVectors(kit, loaded);
  }

  /** Every HTTP scenario of a file: the names of those that fail, and why. */
  async http({ name, loaded }) {
    const failed = [];
    for (const scenario of scenariosOf(name, loaded)) {
      await new Stage(kit, scenario, new InProcess()).play().catch((error) => failed.push(`${scenario.name}: ${error.message}`));
    }
    return failed;
  }

  /** Begins and completes so many keys, and says how many rows were written for it. */
  async pairs({ count, from = 0, body = "charged" }) {
    const counted = { rows: 0 };
    this.opened?.closeSync();
    const ledger = Ledger.openSync(counting(this.ctx.storage, counted));
    const before = counted.rows;
    for (let at = from; at < from + count; at++) {
      const decision = await ledger.begin(charge, "tenant", `key-${at}`, Fingerprint.ofJson({ amount: at }));
      await decision.claim.complete(body);
    }
    const rows = counted.rows - before;
    ledger.closeSync();
    this.opened = undefined;
    return { rows };
  }

  /** The same changes with a row for each: what a store of rows would write. */
  changes(commits) {
    const { sql } = this.ctx.storage;
    sql.exec("CREATE TABLE IF NOT EXISTS changes (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID");
    let rows = 0;
    for (const [key, value] of commits.flat()) {
      const cursor = value === null
        ? sql.exec("DELETE FROM changes WHERE key = ?", fromHex(key))
        : sql.exec("INSERT INTO changes VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", fromHex(key), fromHex(value));
      cursor.toArray();
      rows += cursor.rowsWritten;
    }
    return { rows };
  }

  async acknowledge({ key }) {
    const decision = await this.ledger.begin(charge, "tenant", key, Fingerprint.unchecked());
    await decision.claim.complete(key);
    return key;
  }

  async look({ keys }) {
    const missing = keys.filter((key) => this.ledger.lookupSync(charge, "tenant", key)?.text() !== key);
    const { isWell, records, faults } = await this.ledger.check();
    return { missing, isWell, records, faults };
  }

  /** Commits on a storage that stands still for ever: before so many rows are written, or when all are. */
  async stall({ key, at }) {
    this.opened?.closeSync();
    const stall = { at: null };
    const ledger = Ledger.openSync(stalling(this.ctx.storage, stall));
    stall.at = at;
    const batch = new kit.Batch();
    for (let at = 0; at < 40; at++) batch.put("wide", `${key}-${at}`, new Uint8Array(4000));
    await ledger.apply(batch);
    return "it did not stall";
  }

  get driver() {
    return this.ledger.outbox({ backoff: { baseMs: 400, capMs: 800, multiplier: 2 } }).driver("ada", new kit.FetchTransport());
  }

  /** Begins a key, enqueues requests, sets an alarm, and throws the object out, as the platform does with one that nobody asks. */
  async leave({ key, url, count }) {
    const brief = Operation.repeatable("charge", { leaseMs: 50 });
    await this.ledger.begin(brief, "tenant", key, Fingerprint.unchecked(), { memo: key });
    const outbox = this.ledger.outbox();
    for (let at = 0; at < count; at++) {
      const request = new Request(`${url}/charges`, { method: "POST", body: `charge ${at}` });
      await outbox.enqueue(request, { scope: "ada", operation: "charge", purpose: `charge ${at}` });
    }
    await this.ctx.storage.setAlarm(Date.now() + 200);
    await this.ctx.storage.sync();
    this.ctx.abort("thrown out");
  }

  async alarm() {
    const { storage } = this.ctx;
    for (const claim of this.ledger.recoverSync(charge, 10)) await claim.complete(claim.memo);
    const instances = new Set((await storage.get("instances")) ?? []).add((this.name ??= crypto.randomUUID()));
    await storage.put("instances", [...instances]);
    const next = await this.driver.tick();
    if (next !== null) await storage.setAlarm(next);
  }

  async sent() {
    const entries = [...this.ledger.outbox().listSync({ scope: "ada" })];
    const settled = entries.filter(({ state }) => state === "answered").length;
    return { settled, instances: ((await this.ctx.storage.get("instances")) ?? []).length };
  }

  rowsOf({ key }) {
    return this.ledger.scanSync("wide", { from: key, to: `${key}~`, limit: 100 }).length;
  }
}

/** All rows as one, to tell whether any of them has changed. */
function joined(rows) {
  const stride = 8 + 4096;
  const whole = new Uint8Array(rows.length * stride);
  const view = new DataView(whole.buffer);
  for (const [at, { page, bytes }] of rows.entries()) {
    view.setFloat64(at * stride, page);
    whole.set(new Uint8Array(bytes), at * stride + 8);
  }
  return whole;
}

function fromHex(hex) {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** `storage`, whose written rows are counted. */
function counting(storage, counted) {
  return withExec(storage, (query, bindings) => {
    const cursor = storage.sql.exec(query, ...bindings);
    const rows = cursor.toArray();
    counted.rows += cursor.rowsWritten;
    return { toArray: () => rows };
  });
}

function stalling(storage, stall) {
  let written = 0;
  const exec = (query, bindings) => {
    if (stall.at !== null && query.startsWith("INSERT") && written++ === stall.at) for (;;);
    return storage.sql.exec(query, ...bindings);
  };
  const transactionSync = (closure) => {
    const told = storage.transactionSync(closure);
    if (stall.at === "end") for (;;);
    return told;
  };
  return { ...withExec(storage, exec), transactionSync };
}

function withExec(storage, exec) {
  return {
    sql: { exec: (query, ...bindings) => exec(query, bindings) },
    transactionSync: (closure) => storage.transactionSync(closure),
  };
}
