// Runs Perfetto's trace processor: requests come in on standard input, and answers go out on standard output.
//
// The processor is the WebAssembly of a copy of Perfetto's page in a folder, the argument. It expects to be a worker of
// that page: it receives a port, and loads its code by a synchronous request.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { stdin, stdout } from "node:process";
import { setImmediate } from "node:timers/promises";
import vm from "node:vm";

const folder = process.argv[2];
globalThis.self = globalThis;
globalThis.location = { href: "" };
globalThis.WorkerGlobalScope = class {};
globalThis.XMLHttpRequest = class {
  open(_method, name) {
    this.name = name;
  }
  send() {
    this.response = readFileSync(join(folder, this.name));
  }
};
// It was not built for Node, and refuses to run where it finds it.
delete globalThis.process;
console.log = console.warn = console.error;
vm.runInThisContext(readFileSync(join(folder, "engine_bundle.js"), "utf8"), "engine_bundle.js");

const port = { postMessage: (answer) => stdout.write(answer) };
globalThis.onmessage({ data: port });
await setImmediate();
stdin.on("data", (request) => port.onmessage({ data: new Uint8Array(request) }));
