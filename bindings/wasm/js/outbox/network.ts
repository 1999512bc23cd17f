import { ended, within } from "../waiting.js";

/**
 * For how long a browser that says it is offline is believed, at first, and at most. Some say so of a network that works: Windows, where a
 * firewall or a VPN is in the way of its own check (MDN, Navigator.onLine).
 */
const BELIEVED_MS = 60_000;
const BELIEVED_MS_MAX = 3_600_000;

/** For how long where the pages come from may take to answer. */
const ANSWER_MS = 10_000;

/** How often a browser is asked: Chromium tells its workers nothing by itself. */
const LOOK_MS = 1_000;

const EVENTS = ["online", "offline"] as const;

/** Whether this platform tells when it is online again: browsers do, and nobody else. */
export const canTellOnline = () => typeof addEventListener === "function" && "onLine" in (globalThis.navigator ?? {});

const isSaidOffline = () => canTellOnline() && navigator.onLine === false;

/** What a driver believes of the network. */
export class Network {
  /** Whether it is tried, although the browser says that it is offline. */
  #isTried = false;
  #believedMs = BELIEVED_MS;

  /** Whether what is sent now would most likely not arrive. */
  get isDown(): boolean {
    return isSaidOffline() && !this.#isTried;
  }

  /** Calls when the browser says something, which is believed; until what is returned is called. */
  watch(changed: () => void): () => void {
    if (!canTellOnline()) return () => {};
    let last = navigator.onLine;
    const heard = () => {
      last = navigator.onLine;
      this.#isTried = false;
      this.#believedMs = BELIEVED_MS;
      changed();
    };
    const timer = setInterval(() => navigator.onLine === last || heard(), LOOK_MS);
    for (const event of EVENTS) addEventListener(event, heard);
    return () => {
      clearInterval(timer);
      for (const event of EVENTS) removeEventListener(event, heard);
    };
  }

  /** A send came back without a verdict. Whether that makes the network one that is down. */
  failed(): boolean {
    const wasTried = this.#isTried;
    this.#isTried = false;
    return wasTried && this.isDown;
  }

  /** Returns when sending is worth a try, or the signal is aborted: who hears that the browser is online again aborts it. */
  async isUp(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.isDown) {
      const isLongest = this.#believedMs >= BELIEVED_MS_MAX;
      await rested(this.#believedMs, signal);
      this.#believedMs = Math.min(this.#believedMs * 2, BELIEVED_MS_MAX);
      this.#isTried = !signal.aborted && (isLongest || (await doesOriginAnswer(signal)));
    }
  }
}

async function rested(ms: number, signal: AbortSignal): Promise<void> {
  const end = within(ms, signal);
  await ended(end.signal);
  end.stop();
}

/** Asks where the pages come from, so that no entry has a try that may have taken effect. */
async function doesOriginAnswer(signal: AbortSignal): Promise<boolean> {
  const end = within(ANSWER_MS, signal);
  try {
    await fetch(location.origin, { method: "HEAD", mode: "no-cors", cache: "no-store", credentials: "omit", signal: end.signal });
    return true;
  } catch {
    return false;
  } finally {
    end.stop();
  }
}
