// Tabs that come and go at random.

/** Numbers below a limit, the same for the same seed. */
export function randomOf(seed) {
  let state = seed >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** Five tabs that are opened, reloaded and closed sixty times; `start` has each do something, under a name of its own. The seed. */
export async function shake(opened, start) {
  const seed = Number(process.env.KEYLEDGER_SEED ?? Date.now() % 1e6);
  const random = randomOf(seed);
  const pages = [];
  let made = 0;
  const begin = (page) => start(page, `tab ${(made += 1)}`);
  const add = async () => {
    const page = await opened();
    pages.push(page);
    await begin(page);
  };
  for (let at = 0; at < 5; at += 1) await add();
  for (let event = 0; event < 60; event += 1) {
    await new Promise((resolve) => setTimeout(resolve, random(100)));
    const at = random(pages.length);
    if (random(2) === 0) {
      await pages[at].reload();
      await pages[at].waitForFunction(() => globalThis.tab);
      await begin(pages[at]);
    } else {
      const [page] = pages.splice(at, 1);
      await page.close();
      await add();
    }
  }
  return seed;
}

/** How long calls have waited, and that in words. */
export function waited(ms) {
  const sorted = [...ms].sort((a, b) => a - b);
  const [p50, p99, longest] = [0.5, 0.99, 1].map((part) => Math.round(sorted[Math.ceil(part * sorted.length) - 1]));
  return { longest, words: `${sorted.length} calls of tabs: p50 ${p50} ms, p99 ${p99} ms, longest ${longest} ms` };
}
