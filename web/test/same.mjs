// What a page answers is what the command answers, byte for byte:
// node same.mjs PROVER WHOLE COMMAND EXAMPLES PLANS
//
// Every plan of both folders is checked by the command and by the module that proves. Where the
// command refuses a plan, the module has to give the same message, place and cure. The examples are
// simulated, too, by the command and by the whole module.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { plansOf } from "../examples.mjs";
import { read, written } from "../dist-test/message.mjs";
import { LaxityModule } from "../dist-test/module.mjs";

const [proverFile, wholeFile, command, examples, drawn] = process.argv.slice(2);
/** How long the examples are simulated: their longest warm-up is shorter. */
const DURATION = "2s";

const [prover, whole] = [await module(proverFile), await module(wholeFile)];
const [ms, counts] = [[], { proofs: 0, refusals: 0, runs: 0 }];
for (const folder of [examples, drawn]) {
  for (const plan of await opened(folder)) checked(plan);
}
for (const plan of await opened(examples)) simulated(plan);
for (const [what, count] of Object.entries(counts)) assert.ok(count > 0, `there were no ${what}`);
ms.sort((one, other) => one - other);
const at = (share) => ms[Math.min(ms.length - 1, Math.floor(share * ms.length))].toFixed(1);
console.log(`The same: ${counts.proofs} proofs, ${counts.refusals} refusals, ${counts.runs} runs.`);
console.log(`A proof took ${at(0.5)} ms (median), ${at(0.95)} ms (95 %), ${at(1)} ms (slowest).`);

async function module(file) {
  const bytes = await readFile(file);
  return LaxityModule.start(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), () => {});
}

/** The plans of a folder, each with its path and the files that it reads. */
async function opened(folder) {
  const plans = await plansOf(folder);
  assert.ok(plans.length > 0, `${folder} has no plan`);
  return Promise.all(
    plans.map(async ({ name, text, files }) => {
      const read = files.map(async (file) => ({ name: file, bytes: await readFile(join(folder, file)) }));
      return { path: join(folder, name), text, files: await Promise.all(read) };
    }),
  );
}

function checked({ path, text, files }) {
  const begun = performance.now();
  const { answer } = read(prover.ask(written({ verb: "check", plan: text }, files)));
  ms.push(performance.now() - begun);
  const native = asked("check", "--json", path);
  if (native.status === 2) return refusedAlike(path, answer, native.stderr);
  assert.ok(answer.result, `${path}: ${JSON.stringify(answer)}`);
  assert.equal(answer.result.json, native.stdout, path);
  assert.equal(answer.result.kept !== false, native.status === 0, path);
  counts.proofs += 1;
}

function simulated({ path, text, files }) {
  const question = { verb: "run", plan: text, seed: "7", duration: DURATION };
  const { answer } = read(whole.ask(written(question, files)));
  const native = asked("run", "--json", "--seed", "7", "--duration", DURATION, path);
  if (native.status === 2) return assert.ok(answer.fault, `${path}: ${native.stderr}`);
  if (answer.fault?.message.includes("a page cannot do yet")) return console.log(`${path} is not simulated: ${answer.fault.message}`);
  assert.ok(answer.result, `${path}: ${JSON.stringify(answer)}`);
  assert.equal(withoutMemory(answer.result.json), withoutMemory(native.stdout), path);
  counts.runs += 1;
}

/** A scheduler takes less memory in a page, whose addresses have half as many bytes. */
function withoutMemory(json) {
  return json.replace(/"scheduler_bytes": \d+/g, '"scheduler_bytes": 0');
}

function asked(...words) {
  const native = spawnSync(command, words, { encoding: "utf8", maxBuffer: 1 << 30 });
  assert.ok([0, 1, 2].includes(native.status), `${words.join(" ")}: ${native.stderr}`);
  return native;
}

/** The command's message is broken into lines, and drawn around. */
function refusedAlike(path, answer, said) {
  assert.ok(answer.fault, `${path}: ${said}`);
  const { message, help, place } = answer.fault;
  const plain = (text) => text.replace(/[\s│╭╰─·]+/g, "");
  assert.ok(plain(said).includes(plain(message)), `${path}: ${message}\n${said}`);
  if (help) assert.ok(plain(said).includes(plain(help)), `${path}: ${help}\n${said}`);
  if (place) assert.ok(said.includes(`:${place.line}:${place.column}]`), `${path}: ${place.line}:${place.column}\n${said}`);
  counts.refusals += 1;
}
