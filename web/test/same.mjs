// The module's proofs are the command's, byte for byte: node same.mjs MODULE COMMAND FOLDER…
//
// Every plan of the folders is checked by both. Where the command refuses a plan, the module has to
// give the same message, place and cure.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { read, written } from "../dist-test/message.mjs";
import { LaxityModule } from "../dist-test/module.mjs";

const [moduleFile, command, ...folders] = process.argv.slice(2);
const NO_PLAN = /(-study|claims|spread)\.toml$/;

const bytes = await readFile(moduleFile);
const laxity = await LaxityModule.start(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), () => {});
const ms = [];
let [proved, refused] = [0, 0];
for (const folder of folders) {
  const names = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isFile()).map(({ name }) => name);
  const plans = names.filter((name) => name.endsWith(".toml") && !NO_PLAN.test(name)).sort();
  assert.ok(plans.length > 0, `${folder} has no plan`);
  const others = names.filter((name) => /\.(csv|graphml|xml|json)$/.test(name));
  const files = await Promise.all(others.map(async (name) => ({ name, bytes: await readFile(join(folder, name)) })));
  for (const name of plans) await compare(join(folder, name), files);
}
ms.sort((one, other) => one - other);
const at = (share) => ms[Math.min(ms.length - 1, Math.floor(share * ms.length))].toFixed(1);
console.log(`${proved} proofs are the same, and ${refused} refusals; half of all took ${at(0.5)} ms at most, 95 % ${at(0.95)} ms, the slowest ${at(1)} ms`);

async function compare(path, files) {
  const plan = await readFile(path, "utf8");
  const named = files.filter(({ name }) => plan.includes(`"${name}"`));
  const begun = performance.now();
  const { answer } = read(laxity.ask(written({ verb: "check", plan }, named)));
  ms.push(performance.now() - begun);
  const native = spawnSync(command, ["check", "--json", path], { encoding: "utf8", maxBuffer: 1 << 30 });
  assert.ok(native.status === 0 || native.status === 1 || native.status === 2, `${path}: ${native.stderr}`);
  if (native.status === 2) return refusedAlike(path, answer, native.stderr);
  assert.ok(answer.result, `${path}: ${JSON.stringify(answer)}`);
  assert.equal(answer.result.json, native.stdout, path);
  assert.equal(answer.result.kept !== false, native.status === 0, path);
  proved += 1;
}

function refusedAlike(path, answer, said) {
  const { message, help, place } = answer.fault;
  const plain = (text) => text.replace(/[\s│╭╰─·]+/g, "");
  assert.ok(plain(said).includes(plain(message)), `${path}: ${message}\n${said}`);
  if (help) assert.ok(plain(said).includes(plain(help)), `${path}: ${help}\n${said}`);
  if (place) assert.ok(said.includes(`:${place.line}:${place.column}]`), `${path}: ${place.line}:${place.column}\n${said}`);
  refused += 1;
}
