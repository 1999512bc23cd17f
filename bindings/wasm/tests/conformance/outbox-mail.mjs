// The outbox of a scenario: its settings, what was sent from it, and the deliveries and entries that have names.

import { at } from "./shown.mjs";
import { shownBytes, shownResponse, toText } from "./values.mjs";

// The number of an entry that was never there.
const NOBODY = 2 ** 52;

export class Mail {
  constructor(loaded, scenario) {
    const said = [loaded.outbox, scenario.outbox].filter((settings) => settings !== undefined);
    this.settings = said.length ? Object.assign({}, ...said) : null;
    this.outbox = null;
    this.deliveries = new Map();
    this.entries = new Map();
    // Deliveries that no step names: kept, because dropping one ends its lease (O6).
    this.unnamed = [];
    this.wire = [];
    this.lastChange = 0;
  }

  /** By another process: objects of the old one are gone, names are not. */
  open(ledger) {
    this.unnamed.length = 0;
    for (const handed of this.deliveries.values()) handed.delivery = null;
    this.outbox = this.settings && ledger.outbox(settingsOf(this.settings));
  }

  /** Another handle, these settings over those before. */
  openAgain(ledger, settings) {
    const own = { ...this.settings, ...settings };
    this.outbox = ledger.outbox(settingsOf(own));
    this.settings = own;
  }

  /** Every delivery that is handed out counts as sent. */
  keep(name, delivery) {
    const { key, mediaType, request, id, fence } = delivery;
    this.wire.push({ key, request: shownBytes(request), mediaType });
    if (name === undefined) this.unnamed.push(delivery);
    else this.deliveries.set(name, { id, fence, delivery });
  }

  idOf(name) {
    return this.entries.get(name)?.id ?? NOBODY;
  }

  /** Gives the entry its name; what is to be seen of it. */
  named(name, entry) {
    if (name !== undefined) this.entries.set(name, { id: entry.id, key: entry.key });
    return shownEntry(entry);
  }
}

const camel = (name) => name.replace(/_[a-z]/g, (pair) => pair[1].toUpperCase());
const camels = (of) => Object.fromEntries(Object.entries(of).map(([name, value]) => [camel(name), value]));
const plain = (value) => (value === "max" ? Infinity : value);

function settingsOf(given) {
  const own = camels(given);
  for (const [name, value] of Object.entries(own)) {
    own[name] = name !== "lanes" && typeof value === "object" ? camels(value) : plain(value);
  }
  own.lanes = given.lanes?.map(({ name, ordered, on_stuck_head }) => ({
    name: toText(name),
    isOrdered: ordered,
    onStuckHead: on_stuck_head,
  }));
  return own;
}

const instant = (wallMs) => (wallMs === null ? null : at(wallMs));

export function shownEntry(entry) {
  return {
    id: entry.id,
    state: entry.state,
    reason: entry.reason,
    with_lane: entry.state === "held" ? entry.isHeldWithLane : null,
    scope: entry.scope,
    lane: entry.lane,
    operation: entry.operation,
    key: entry.key,
    purpose: entry.purpose,
    response: entry.response && shownResponse(entry.response),
    is_yes: entry.isYes,
    tries: entry.tries,
    given_back: entry.givenBack,
    errors: entry.errors.map(({ error }) => error),
    may_have_taken_effect: entry.mayHaveTakenEffect,
    due_at_ms: instant(entry.dueAtMs),
    lease_end_at_ms: instant(entry.leaseEndAtMs),
    first_unknown_at_ms: instant(entry.firstUnknownAtMs),
    send_by_at_ms: instant(entry.sendByAtMs),
    created_at_ms: instant(entry.createdAtMs),
    settled_at_ms: instant(entry.settledAtMs),
    successor: entry.successor,
    audit: entry.audit.map(({ outcome, who, note }) => ({ outcome, who, note })),
  };
}

export function shownDelivery(delivery) {
  return {
    ...shownEntry(delivery.entry),
    request: shownBytes(delivery.request),
    media_type: delivery.mediaType,
    in_doubt: delivery.isInDoubt,
    lease_left_ms: Math.round(delivery.leaseLeftMs),
    fence: delivery.fence,
  };
}
