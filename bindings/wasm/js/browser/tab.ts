import { KeyledgerError } from "../errors.js";
import { FOR_VITE } from "../load.js";
import { Calling } from "../remote/calling.js";
import { errorOf } from "../remote/plain.js";
import type { Durability } from "../store.js";
import type { FromPage, Opening, ToPage } from "./messages.js";

/** A worker that has no script says nothing of why. */
const UNFOUND = `its script was not found, or the Content-Security-Policy (worker-src) lets none run; \`worker\` starts that of keyledger/browser-worker, and ${FOR_VITE}`;

/** Starts a page's side of its worker. The ledger is open when the promise is kept. */
export async function openTab(
  worker: Worker,
  opening: Opening,
): Promise<{ calling: Calling; durability: Durability }> {
  const post = (message: FromPage) => worker.postMessage(message);
  const calling = new Calling(post);
  const lost = () => calling.end(new KeyledgerError("unavailable", "the ledger's worker has ended; open the ledger again"));
  const watch = new Watch(lost);
  const life = listen(post, () => watch.stop());
  calling.onEnd = () => {
    life.abort();
    watch.stop();
    worker.terminate();
  };
  const durability = new Promise<Durability>((resolve, reject) => {
    const failed = (error: Error) => (calling.end(error), reject(error));
    worker.onerror = (event) => failed(new KeyledgerError("unavailable", `the ledger's worker does not run: ${event.message || UNFOUND}`));
    worker.onmessage = ({ data }: MessageEvent<ToPage>) => {
      if (data.kind === "opened") resolve(data.durability);
      else if (data.kind === "failed") failed(errorOf(data.error));
      else if (data.kind === "lives") watch.start(data.sign);
      else calling.told(data);
    };
  });
  post({ kind: "open", ...opening });
  return { calling, durability: await durability };
}

/** A worker that ends tells nobody. What it holds is free then. */
class Watch {
  readonly #lost: () => void;
  #watching: AbortController | null = null;

  constructor(lost: () => void) {
    this.#lost = lost;
  }

  start(sign: string): void {
    this.stop();
    const { signal } = (this.#watching = new AbortController());
    const free = navigator.locks.request(sign, { signal }, () => {
      if (!signal.aborted) this.#lost();
    });
    free.catch(() => undefined);
  }
  stop(): void {
    this.#watching?.abort();
    this.#watching = null;
  }
}

/** A page that is left or frozen may come back; until then another tab has to be able to lead. */
function listen(post: (message: FromPage) => void, left: () => void): AbortController {
  const life = new AbortController();
  const { signal } = life;
  const hide = () => {
    left();
    post({ kind: "hide" });
  };
  const show = () => post({ kind: "show" });
  addEventListener("pagehide", hide, { signal });
  addEventListener("pageshow", show, { signal });
  if (typeof document !== "undefined") {
    document.addEventListener("freeze", hide, { signal });
    document.addEventListener("resume", show, { signal });
  }
  return life;
}
