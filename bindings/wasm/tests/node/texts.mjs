// The blocks of a text. The word behind the language says where one runs; one that is `continued` goes on where the one above it ended.

import { readFileSync } from "node:fs";

export const GUIDE = readFileSync(new URL("../../../../docs/javascript.md", import.meta.url), "utf8");

/** Blocks with their line, heading, language, word and code, and the text block right behind them, which is what they print. */
export function blocksOf(text) {
  const fences = text.matchAll(/^```(\w+) ?(\S*)\n([^]*?)^```$(?:\n\n```text\n([^]*?)^```$)?/gm);
  return Array.from(fences, ({ index, 1: language, 2: how, 3: code, 4: prints }) => {
    const line = text.slice(0, index).split("\n").length;
    const heading = text.slice(0, index).match(/^#+ .*$/gm)?.at(-1);
    return { line, heading, language, how, code, prints };
  });
}

/** The programs of a text: each is a block with all that continue it. */
export function programsOf(text) {
  const programs = [];
  for (const block of blocksOf(text).filter(({ language }) => language === "js")) {
    if (block.how === "continued") programs.at(-1).code += block.code;
    else programs.push(block);
  }
  return programs;
}

/** The only program that says so of the guide. */
export function programOf(how) {
  const [program, ...more] = programsOf(GUIDE).filter((one) => one.how === how);
  if (!program || more.length > 0) throw new Error(`one block of the guide is for ${how}`);
  return program.code;
}
