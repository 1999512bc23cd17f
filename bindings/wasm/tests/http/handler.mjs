// The handler of a scenario, and its route.

import { toBytes } from "../conformance/values.mjs";
import { fieldOf } from "./scenarios.mjs";

/** Where handlers that were started wait. */
export class Gate {
  #next = null;

  /** The next handler waits: how to know that it does, and how to let it go on. */
  close() {
    const gate = {};
    gate.reached = new Promise((resolve) => (gate.reach = resolve));
    gate.opened = new Promise((resolve) => (gate.open = resolve));
    return (this.#next = gate);
  }

  async pass() {
    const gate = this.#next;
    if (!gate) return;
    this.#next = null;
    gate.reach();
    await gate.opened;
  }
}

/** What a scenario's handlers play, run by run. */
export class Script {
  begun = 0;

  constructor(kit, scenario, gate) {
    this.kit = kit;
    this.handlers = scenario.handlers;
    this.gate = gate;
  }

  /** One run of the handler. */
  async run(_request, claim) {
    const number = (this.begun += 1);
    const raw = this.handlers[Math.min(number, this.handlers.length) - 1];
    if (!raw.waits_after) await this.gate.pass();
    const told = claim && (await this.#act(raw, number, claim));
    if (raw.waits_after) await this.gate.pass();
    return ending(raw, number, told);
  }

  async #act(raw, number, claim) {
    let told;
    if (raw.derives) told = toBytes(claim.deriveKey(raw.derives));
    if (raw.step) told = await claim.step(raw.step, () => String(number));
    await this.#settle(raw.settles, number, claim);
    return told;
  }

  async #settle(settles, number, claim) {
    const { StoredResponse } = this.kit;
    if (settles === undefined) return;
    if (settles === "release") return claim.release();
    if ("park" in settles) return claim.park(settles.park);
    if ("complete" in settles) {
      return claim.completeWith(() => new StoredResponse("text/plain", numbered(settles.complete, number)));
    }
    if ("complete_http" in settles) return claim.completeWith(() => this.#stored(settles.complete_http, number));
    return claim.fail(this.#stored(settles.fail_http, number));
  }

  #stored({ status, fields = [], body }, number) {
    return this.kit.storedHttp({ status, headers: fields.map(fieldOf), body: bodyOf(body, number) });
  }
}

const numbered = (text, number) => toBytes(text.replaceAll("%n", String(number)));
const bodyOf = (given, number) => (typeof given === "string" ? numbered(given, number) : toBytes(given));

function ending(raw, number, told) {
  if (raw.raises) throw new Error("the handler raises");
  const status = raw.status ?? 201;
  const headers = new Headers();
  for (const line of raw.fields ?? ["Content-Type: text/plain"]) headers.append(...fieldOf(line));
  const body = told ?? bodyOf(raw.body ?? "run %n", number);
  const length = raw.breaks_after ?? raw.raises_after;
  if (length !== undefined) return new Response(broken(body.subarray(0, length)), { status, headers });
  const hasNone = [204, 205, 304].includes(status);
  return new Response(hasNone ? null : body, { status, headers });
}

function broken(body) {
  const pieces = [body];
  return new ReadableStream({
    pull(controller) {
      const piece = pieces.shift();
      if (piece) controller.enqueue(piece);
      else controller.error(new Error("the body breaks off"));
    },
  });
}

const NAMES = {
  lease_ms: "leaseMs",
  retention_ms: "retentionMs",
  tombstone_ms: "tombstoneMs",
  wait_ms: "waitMs",
  methods: "methods",
  max_body_bytes: "maxBodyBytes",
  max_request_bytes: "maxRequestBytes",
  documentation: "documentation",
  not_kept: "notKept",
  statuses: "statuses",
  leave_out: "leaveOut",
  stream: "stream",
};

const REDACTIONS = {
  fails: () => {
    throw new Error("the hook raises");
  },
  blank: (stored) => ({ ...stored, body: "(blank)" }),
  longer: (stored) => ({ ...stored, body: "x".repeat(2 << 20) }),
};

/** The scenario's route as options of `idempotent`; null if it did not opt in. */
export function routeOf(kit, { route }) {
  if (route.key === "none") return null;
  const settings = Object.entries(NAMES).filter(([name]) => name in route);
  const options = Object.fromEntries(settings.map(([name, own]) => [own, route[name]]));
  if (route.operation) options.operation = new kit.Operation(route.operation, route.effect);
  else options.effect = route.effect;
  if (route.keep) options.keep = (status) => kept(route.keep[status]);
  if (route.redact) options.redact = REDACTIONS[route.redact];
  return { ...options, key: route.key };
}

function kept(word) {
  if (word === "panics") throw new Error("the function raises");
  return word;
}

/** Read from a field: what stands for authentication. */
export function scopeOf(request) {
  const user = request.headers.get("user");
  if (user === "raises") throw new Error("the scope function raises");
  return user;
}
