// A ledger that lives elsewhere, beside one of this thread: the public members of both, as the installed package's types have them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { scratch } from "./kit.mjs";

const ts = createRequire(import.meta.url)("../../node_modules/typescript");

const CLOSURE = "a closure that runs inside a commit cannot cross the border, and may not wait; a Batch is the same as a value";
const DELIVERIES = "deliveries are sent where the ledger is: for a transport of one's own the ledger is opened there";
const OTHERS = "others have the ledger open too: who has the file lets go of it when its tab is hidden or closed, not when one of them asks";

/** What one that lives elsewhere does not have, and why. */
const NOT_ELSEWHERE = {
  "Ledger.snapshot": "only a ledger in memory has one, and none in memory lives elsewhere",
  "Ledger.suspend": OTHERS,
  "Ledger.resume": OTHERS,
  "Ledger.transaction": CLOSURE,
  "Ledger.dispose": "to close is to wait for the other side; `await using` does",
  "Claim.completeWith": CLOSURE,
  "Outbox.leaseDue": DELIVERIES,
  "Outbox.settle": DELIVERIES,
  "Outbox.settleAndLease": DELIVERIES,
};

/** What both have, and not alike, and why. */
const NOT_ALIKE = {
  "Outbox.driver": "the transport is told by data and `authorize`, and is `fetch` as it stands where none is told: other functions cannot cross the border",
  "Outbox.drain": "for the same reason",
};

const program = ts.createProgram(
  ["common", "thread/ledger"].map((name) => join(scratch, "node_modules/keyledger/dist", `${name}.d.ts`)),
  { module: ts.ModuleKind.NodeNext, strict: true, lib: ["lib.es2024.d.ts", "lib.esnext.disposable.d.ts", "lib.dom.d.ts"], types: [] },
);
const checker = program.getTypeChecker();
const words = (type) => checker.typeToString(type, undefined, ts.TypeFlags.NoTruncation | ts.TypeFormatFlags.NoTruncation);

const EXPORTS = program.getRootFileNames().flatMap((file) => checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file))));

/** What is exported by that name. */
function exported(name) {
  const found = EXPORTS.find((one) => one.name === name);
  assert.ok(found, `${name} is not exported`);
  return found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found;
}

/** How a member is called: the words of its type, without those that say where the ledger lives, and that it is waited for. */
function shape(member) {
  const type = checker.getTypeOfSymbol(member);
  const alike = (text) => text.replace(/\bRemote(?=[A-Z])|\bLedgerHandle\b/g, (word) => (word === "Remote" ? "" : "Ledger"));
  const [call] = type.getCallSignatures();
  if (!call) return alike(words(type));
  const parameters = call.parameters.map((one) => {
    const isOptional = one.valueDeclaration.questionToken !== undefined;
    return `${one.name}${isOptional ? "?" : ""}: ${alike(words(checker.getTypeOfSymbol(one)))}`;
  });
  return `(${parameters.join(", ")}): ${alike(words(call.getReturnType())).replace(/^Promise<(.*)>$/s, "$1")}`;
}

/** The public members of a class by name; a twin that ends in `Sync` stands behind the one that waits. */
function membersOf(name) {
  const members = checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(exported(name)));
  const named = members.map((one) => [one.name.replace(/^__@(\w+)@\d+$/, "$1"), shape(one)]).filter(([name]) => !/^(#|__#)/.test(name));
  return Object.fromEntries(named);
}

/** Here, and elsewhere. */
const PAIRS = { Ledger: ["LedgerHandle", "RemoteLedger"], Claim: ["Claim", "RemoteClaim"], Outbox: ["Outbox", "RemoteOutbox"], Driver: ["Driver", "RemoteDriver"] };

test("what lives elsewhere has the members of what is here, by the same names, words and answers, save what is named with its reason", () => {
  // A type of options of its own would be compared by name alone.
  const kinds = Object.values(PAIRS).map(([, name]) => name).concat("RemoteDecision", "RemoteFetchSettings", "RemoteTransport");
  assert.deepEqual(EXPORTS.map(({ name }) => name).filter((name) => name.startsWith("Remote")).sort(), kinds.sort());
  const [missing, different, more, alone] = [[], [], [], []];
  for (const [pair, [hereName, elsewhereName]] of Object.entries(PAIRS)) {
    const [here, elsewhere] = [membersOf(hereName), membersOf(elsewhereName)];
    assert.ok(Object.keys(elsewhere).length > 5, `${pair}: ${Object.keys(elsewhere)}`);
    for (const [name, shown] of Object.entries(here)) {
      if (name.endsWith("Sync")) {
        if (!(name.slice(0, -4) in here)) alone.push(`${pair}.${name}`);
      } else if (!(name in elsewhere)) missing.push(`${pair}.${name}`);
      else if (elsewhere[name] !== shown) different.push([`${pair}.${name}`, shown, elsewhere[name]]);
    }
    more.push(...Object.keys(elsewhere).filter((name) => !(name in here)).map((name) => `${pair}.${name}`));
  }
  assert.deepEqual(alone, [], "each of these has no form that waits");
  assert.deepEqual(more, [], "these are elsewhere only");
  assert.deepEqual(missing.sort(), Object.keys(NOT_ELSEWHERE).sort());
  const unnamed = different.filter(([name]) => !(name in NOT_ALIKE));
  assert.deepEqual(unnamed, [], unnamed.map((one) => one.join("\n  ")).join("\n"));
  assert.deepEqual(different.map(([name]) => name).sort(), Object.keys(NOT_ALIKE).sort());
});

test("what returns a promise has a twin that ends in Sync, save what the README names", () => {
  const readme = readFileSync(join(scratch, "node_modules/keyledger/README.md"), "utf8");
  const [, said] = /Only what waits for others has none: (.*?)\./.exec(readme);
  const isAwaited = (member) => /^(Promise|AsyncGenerator)</.test(words(checker.getTypeOfSymbol(member).getCallSignatures()[0]?.getReturnType() ?? checker.getAnyType()));
  const alone = ["LedgerHandle", "Claim", "Outbox"].flatMap((name) => {
    const members = checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(exported(name)));
    const names = members.map((one) => one.name);
    return members.filter((one) => !/^(#|__)/.test(one.name) && isAwaited(one) && !names.includes(`${one.name}Sync`)).map((one) => one.name);
  });
  assert.deepEqual(alone.sort(), Array.from(said.matchAll(/`(\w+)`/g), ([, name]) => name).sort());
});
