const { port1, port2 } = new MessageChannel();
let queued: (() => void)[] = [];

port1.onmessage = () => {
  const calls = queued;
  queued = [];
  for (const call of calls) call();
};

/** Calls after what this turn of the event loop still has to do. A timer would be held back by the browser. */
export function callSoon(call: () => void): void {
  queued.push(call);
  if (queued.length === 1) port2.postMessage(null);
}
