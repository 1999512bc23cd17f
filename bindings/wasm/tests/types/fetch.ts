// How `idempotent` is typed: this compiles, and what is marked does not.

import { type Claim, Ledger, Operation, httpOfStored, idempotent, storedHttp } from "keyledger";

interface Env { users: Map<string, string> }
interface Context { waitUntil(promise: Promise<unknown>): void }

const ledger = await Ledger.open("x.kl");
const one = idempotent(
  async (request: Request, claim: Claim | undefined, env: Env, ctx: Context) => {
    ctx.waitUntil(Promise.resolve());
    return new Response(claim?.deriveKey("card"));
  },
  {
    ledger,
    key: "required",
    effect: "repeatable",
    scope: (request, env) => env.users.get(request.headers.get("authorization") ?? ""),
    statuses: { mismatch: 400 },
    keep: (status, effect) => (status === 404 && effect === "repeatable" ? "release" : null),
    redact: (stored) => ({ ...stored, body: null }),
  },
);
const answer: Promise<Response> = one(new Request("https://a.example"), { users: new Map() }, { waitUntil: () => undefined });
const two = idempotent((_request, claim) => new Response(String(claim?.attempt)), {
  ledger: async () => ledger,
  key: "optional",
  operation: Operation.atMostOnce("charge"),
  scope: async () => null,
});
await two(new Request("https://a.example"));
await two.idle();
export const status: number = httpOfStored(storedHttp({ status: 201, headers: [["A", "b"]], body: "x" })).status;
// @ts-expect-error: there is no default for the scope
idempotent(() => new Response(), { ledger, key: "required", effect: "repeatable" });
// @ts-expect-error: nor for the effect
idempotent(() => new Response(), { ledger, key: "required", scope: () => "a" });
// @ts-expect-error: nor for whether the key is required
idempotent(() => new Response(), { ledger, effect: "repeatable", scope: () => "a" });
export default { fetch: two, answer };
