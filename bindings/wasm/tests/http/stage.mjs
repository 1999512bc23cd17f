// Plays a scenario on a server, and compares after every step. Runs on every platform: it imports nothing of a platform's own.

import { START_MS, compare, compareRecord } from "./check.mjs";
import { Gate, Script, routeOf, scopeOf } from "./handler.mjs";
import { requestOf } from "./scenarios.mjs";

const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const PATIENCE_MS = 20_000;
/** Nothing tells from outside that a request waits for another, or that a server has noticed that its client is gone. */
const NOTICED_MS = 60;

async function within(what, promise) {
  let timer;
  const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error(`in vain: ${what}`)), PATIENCE_MS)));
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What a server serves: a scenario's handler under its route, behind what sends strangers away. */
function served(kit, scenario, ledger, script) {
  const route = routeOf(kit, scenario);
  const run = (request, claim) => script.run(request, claim);
  const inner = route ? kit.idempotent(run, { ...route, ledger, scope: scopeOf, onError: () => undefined }) : run;
  const answer = async (request) => {
    if (request.headers.get("user") === "sent-away") return new Response("who are you?", { status: 401 });
    return inner(request);
  };
  return Object.assign(answer, { idle: () => inner.idle?.() });
}

/** One scenario. `server.serve(handler)` has the server answer by a fetch handler; `server.send(request)` gives `answer`, a promise, and `cut`. */
export class Stage {
  constructor(kit, scenario, server) {
    this.kit = kit;
    this.scenario = scenario;
    this.server = server;
    this.clock = new kit.ManualClock(START_MS);
    const options = { clock: this.clock, maxResponseBytes: scenario.route.max_response_bytes };
    this.ledger = kit.Ledger.on(new kit.MemoryStore(), options);
    this.gate = new Gate();
    this.script = new Script(kit, scenario, this.gate);
    this.handler = served(kit, scenario, this.ledger, this.script);
    this.running = new Map();
    server.serve(this.handler);
  }

  async play() {
    try {
      for (const [at, step] of this.scenario.steps.entries()) {
        try {
          await this[step.do](step);
        } catch (error) {
          throw new Error(`step ${at + 1} (${step.do}): ${error.message}`, { cause: error });
        }
      }
      if (this.script.begun !== this.scenario.runs) throw new Error(`${this.script.begun} runs`);
    } finally {
      for (const { sent, gate } of this.running.values()) {
        sent.cut();
        gate?.open();
      }
      await within("nothing runs any more", this.handler.idle());
      await this.ledger.close();
    }
  }

  async send({ request, expect }) {
    compare(await within("the answer", this.server.send(requestOf(request)).answer), expect);
  }

  async start({ request, queued = false, as }) {
    const gate = queued ? null : this.gate.close();
    const sent = this.server.send(requestOf(request));
    this.running.set(as, { sent, gate });
    await (gate ? within("the handler begins", gate.reached) : after(NOTICED_MS));
  }

  async finish({ request, expect }) {
    const { sent, gate } = this.running.get(request);
    this.running.delete(request);
    gate?.open();
    const got = await within("the answer", sent.answer);
    if (expect) compare(got, expect);
  }

  async cut({ request }) {
    const { sent, gate } = this.running.get(request);
    sent.cut();
    if (!gate) await after(NOTICED_MS);
  }

  async cut_short({ request }) {
    await this.server.sendHalf(requestOf(request));
    await after(NOTICED_MS);
  }

  advance({ ms }) {
    this.clock.advance(ms);
  }
  close() {
    return this.ledger.close();
  }
  suspend() {
    return this.ledger.suspend();
  }
  resume() {
    return this.ledger.resume();
  }
  settles() {
    return within("nothing runs any more", this.handler.idle());
  }

  stored({ of, expect }) {
    const id = { operation: "POST /charges", scope: "ada", key: "key-1", ...of };
    compareRecord(this.kit, this.ledger.inspectSync(id), expect);
  }
}
