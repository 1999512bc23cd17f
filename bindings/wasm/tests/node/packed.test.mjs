// What is in the package beside its code: its licences, where it comes from, and a README whose links work from wherever it is read.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { scratch } from "./kit.mjs";

const PACKAGE = join(scratch, "node_modules/keyledger");
const ROOT = new URL("../../../../", import.meta.url);
const read = (name) => readFileSync(join(PACKAGE, name), "utf8");
const MANIFEST = JSON.parse(read("package.json"));
const HOME = MANIFEST.repository.url.replace(/^git\+(.*)\.git$/, "$1");

/** The addresses of a text's links, by the headings that it has: those within it are anchors. */
function linksOf(text) {
  const anchors = Array.from(text.matchAll(/^#+ (.*)$/gm), ([, heading]) => heading.toLowerCase().replace(/[^\w -]/g, "").replaceAll(" ", "-"));
  return { anchors, links: Array.from(text.matchAll(/\]\(([^)\s]+)\)/g), ([, to]) => to) };
}

/** Why a link is dead for who reads the text at `from`, a place in the repository; null: it is not. */
function deadness(to, { anchors }, from) {
  if (to.startsWith("#")) return anchors.includes(to.slice(1)) ? null : "no such heading";
  const inHome = to.startsWith(`${HOME}/blob/main/`) ? new URL(to.slice(`${HOME}/blob/main/`.length), ROOT) : null;
  if (!inHome && /^\w+:/.test(to)) return "not of this repository";
  if (!inHome && from === null) return "not there beside the package";
  const file = inHome ?? new URL(to, from);
  const anchor = file.hash.slice(1);
  if (!existsSync(new URL(file.pathname, file))) return "no such file";
  return anchor === "" || linksOf(readFileSync(new URL(file.pathname, file), "utf8")).anchors.includes(anchor) ? null : "no such heading there";
}

test("the tarball has both licences, as the repository has them", () => {
  for (const name of ["LICENSE-APACHE", "LICENSE-MIT"]) assert.equal(read(name), readFileSync(new URL(name, ROOT), "utf8"));
});

test("homepage and bugs are those of the repository, and there are words to find the package by", () => {
  assert.equal(MANIFEST.homepage, `${HOME}/tree/main/${MANIFEST.repository.directory}#readme`);
  assert.equal(MANIFEST.bugs.url ?? MANIFEST.bugs, `${HOME}/issues`);
  assert.ok(MANIFEST.keywords.includes("idempotency-key"));
});

for (const [name, text, from] of [
  ["the packed README", read("README.md"), null],
  ["the guide", readFileSync(new URL("docs/javascript.md", ROOT), "utf8"), new URL("docs/", ROOT)],
]) {
  test(`no link of ${name} is dead`, () => {
    const told = linksOf(text);
    assert.ok(told.links.length > 3);
    assert.deepEqual(told.links.map((to) => [to, deadness(to, told, from)]).filter(([, why]) => why !== null), []);
  });
}

test("a link that is dead is found", () => {
  const told = linksOf("# A heading\n");
  const dead = ["#another", "../../docs/http.md", `${HOME}/blob/main/docs/none.md`, `${HOME}/blob/main/docs/http.md#none`, "https://example.org"];
  assert.deepEqual(dead.filter((to) => deadness(to, told, null) === null), []);
  assert.deepEqual(["#a-heading", `${HOME}/blob/main/docs/http.md`].filter((to) => deadness(to, told, null) !== null), []);
});
