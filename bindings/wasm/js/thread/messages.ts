import type { Told } from "../remote/calling.js";
import type { PlainError } from "../remote/messages.js";
import type { Durability } from "../store.js";

/** From the thread that has the file. */
export type FromThread =
  | { readonly kind: "opened"; readonly durability: Durability }
  | { readonly kind: "failed"; readonly error: PlainError }
  | Told;
