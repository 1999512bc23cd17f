// A ledger of this thread, asked as one that lives elsewhere: what goes over the border is copied, as a message is.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { kit, scratch } from "./kit.mjs";

/** A file of the installed package that nobody else imports. */
export const part = (name) => import(pathToFileURL(join(scratch, "node_modules/keyledger/dist", `${name}.js`)).href);
const [{ Calling }, { Desk }, { RemoteLedger }] = await Promise.all(["remote/calling", "remote/desk", "remote/ledger"].map(part));

/**
 * `direct` has the ledger, `remote` asks for it. `moves` has the calls that follow answered by a new desk, which has granted nothing: as
 * after a change of who leads.
 */
export function across(t, direct = kit.Ledger.inMemorySync()) {
  t.after(() => direct.close());
  let desk = new Desk(direct);
  const tell = (message) => void setImmediate(() => calling.told(structuredClone(message)));
  const asked = ({ kind, id, call }) => {
    if (kind === "cancel") return desk.cancel("test", id);
    if (kind === "close") return void desk.finish().then(() => tell({ kind: "closed" }));
    const say = (said) => tell({ kind: "said", id, said });
    return void desk.answer("test", id, call, say).then((outcome) => tell({ kind: "outcome", id, outcome }));
  };
  const calling = new Calling((message) => asked(structuredClone(message)));
  return { direct, remote: new RemoteLedger(calling, direct.durability()), moves: () => void (desk = new Desk(direct)) };
}
