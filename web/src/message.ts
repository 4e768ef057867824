// Messages as crates/laxity-web reads and writes them: the length of the JSON in four bytes, the
// JSON, and the bytes of files.

import type { Answered, PlanFile, Question } from "./protocol.ts";

const HEAD = 4;

/** The bytes of a question, with the files that lie beside its plan. */
export function written(question: Question, files: PlanFile[]): Uint8Array {
  const heads = files.map(({ name, bytes }) => ({ name, bytes: bytes.length }));
  const json = new TextEncoder().encode(JSON.stringify({ ...question, files: heads }));
  const length = files.reduce((sum, file) => sum + file.bytes.length, HEAD + json.length);
  const message = new Uint8Array(length);
  new DataView(message.buffer).setUint32(0, json.length, true);
  message.set(json, HEAD);
  let at = HEAD + json.length;
  for (const { bytes } of files) {
    message.set(bytes, at);
    at += bytes.length;
  }
  return message;
}

/** The answer of these bytes. */
export function read(message: Uint8Array): Answered {
  const length = new DataView(message.buffer, message.byteOffset).getUint32(0, true);
  const json = new TextDecoder().decode(message.subarray(HEAD, HEAD + length));
  return { answer: JSON.parse(json), bytes: message.subarray(HEAD + length) };
}
