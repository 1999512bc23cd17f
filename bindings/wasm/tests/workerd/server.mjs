// A workerd that serves a folder of modules: started, asked, killed, started again on the same storage.

import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where the tools are installed. */
const PROGRAM = join(process.env.KEYLEDGER_PACKAGING, "node_modules/workerd/bin/workerd");

/** A folder with modules, a configuration, and the storage of its objects. */
export class Workerd {
  /**
   * @param modules Files by the name of their module; the first is the worker.
   * @param binding What the worker calls the namespace of its objects, and their class.
   */
  constructor(modules, binding = { name: "BOOKS", className: "Book" }) {
    this.folder = mkdtempSync(join(tmpdir(), "keyledger-workerd-"));
    process.on("exit", () => rmSync(this.folder, { recursive: true, force: true }));
    mkdirSync(join(this.folder, "storage"));
    for (const [name, from] of Object.entries(modules)) cpSync(from, join(this.folder, name), { recursive: true });
    writeFileSync(join(this.folder, "config.capnp"), configOf(Object.keys(modules), binding));
  }

  async start() {
    const stdio = ["ignore", "inherit", "inherit", "pipe"];
    this.process = spawn(PROGRAM, ["serve", "config.capnp", "--control-fd=3", "--experimental"], { cwd: this.folder, stdio });
    this.ended = new Promise((resolve) => this.process.on("close", resolve));
    const port = new Promise((resolve) => {
      let said = "";
      this.process.stdio[3].on("data", (piece) => {
        said += piece;
        const [, found] = /"port":(\d+)/.exec(said) ?? [];
        if (found) resolve(found);
      });
    });
    const ended = this.ended.then((code) => Promise.reject(new Error(`workerd has ended with ${code}`)));
    ended.catch(() => undefined);
    this.url = `http://127.0.0.1:${await Promise.race([port, ended])}`;
    return this;
  }

  async kill() {
    this.process.kill("SIGKILL");
    await this.ended;
  }

  /** Asks the worker to do something, and tells what it says. */
  async ask(what, told = {}) {
    const response = await fetch(`${this.url}/${what}`, { method: "POST", body: JSON.stringify(told) });
    const said = await response.text();
    if (!response.ok) throw new Error(`${what}: ${response.status} ${said}`);
    return JSON.parse(said);
  }
}

/** The installed package as modules, save what is for other platforms. */
export function packageModules(scratch) {
  const dist = join(scratch, "node_modules/keyledger/dist");
  const all = Object.entries(modulesOf(dist, "keyledger")).filter(([name]) => !/cjs|node|file-store|browser|remote|thread/.test(name));
  return { ...Object.fromEntries(all), "keyledger/durable-object": join(dist, "durable-object.js") };
}

/** All of a folder as modules, named by their path from there. */
export function modulesOf(folder, prefix) {
  const names = readdirSync(folder, { recursive: true }).filter((name) => /\.(m?js|wasm)$/.test(name));
  return Object.fromEntries(names.map((name) => [join(prefix, name), join(folder, name)]));
}

function configOf(names, { name: binding, className }) {
  const modules = names.map((name) => {
    const kind = name.endsWith(".wasm") ? "wasm" : "esModule";
    return `(name = "${name}", ${kind} = embed "${name}")`;
  });
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "disk", disk = (path = "storage", writable = true)),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const main :Workerd.Worker = (
  compatibilityDate = "2026-01-01",
  modules = [${modules.join(", ")}],
  durableObjectNamespaces = [(className = "${className}", uniqueKey = "objects", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [(name = "${binding}", durableObjectNamespace = "${className}")],
);
`;
}
