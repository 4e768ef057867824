// Where in a text one is, for completion.

import assert from "node:assert/strict";
import { spot } from "../dist-test/toml.mjs";

const told = (text) => {
  const found = spot(text);
  return found && `${found.kind} ${found.path.join(".")} ${text.slice(found.from)}`.trim();
};

for (const [text, expected] of [
  ["", "key"],
  ["ver", "key  ver"],
  ["[sch", "header  sch"],
  ["[class.vo", "header class vo"],
  ["[[source]]\nmo", "key source mo"],
  ["[scheduler]\nkind = ", "value scheduler.kind"],
  ['[scheduler]\nkind = "', 'value scheduler.kind "'],
  ['[scheduler]\nkind = "ed', 'value scheduler.kind "ed'],
  ['[scheduler]\nkind = "edf"\nbest', "key scheduler best"],
  ['class.voice.deadline = "5ms"\nclass.voice.', "key class.voice"],
  ["[class.voice]\narrival = { bu", "key class.voice.arrival bu"],
  ['[class.voice]\narrival = { bucket = "3b", ra', "key class.voice.arrival ra"],
  ['[class.voice]\narrival = [\n  { bucket = "3b" }, # one\n  { ra', "key class.voice.arrival ra"],
  ['source = [{ class = "a" }, { class = "', 'value source.class "'],
  ["# a comment", undefined],
  ['title = "a # no comment"\nver', "key  ver"],
  ['title = """\nlong [link]\n"""\n[link]\nra', "key link ra"],
  ["kind", "key  kind"],
  ["broken line\n[link]\nra", "key link ra"],
  ["a = }\n[link]\nra", "key link ra"],
  ['[class."a b"]\ndead', "key class.a b dead"],
]) {
  assert.equal(told(text), expected, text);
}

// Whatever is written, there is an end.
let draw = 1;
for (let round = 0; round < 20_000; round += 1) {
  let text = "";
  for (let length = round % 40; length > 0; length -= 1) {
    draw = (draw * 48271) % 2147483647;
    text += '[]{}="\'.,#\n ak1'[draw % 15];
  }
  spot(text);
}
console.log("places are found");
