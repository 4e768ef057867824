// Completion and hover texts of the editor, from the schema of plans.

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { EditorView, Tooltip } from "@codemirror/view";
import type { Schema, Word } from "./schema.ts";
import { spot } from "./toml.ts";

/** Longer texts are not read again at every key. */
const LIMIT = 1 << 18;

const CLASS_NAME = /^\s*\[?\s*class\.("[^"\n]*"|[\w-]+)/gm;

/** What may stand at a place. */
export function complete(schema: Schema, context: CompletionContext): CompletionResult | null {
  const text = context.state.sliceDoc(0, context.pos);
  if (text.length > LIMIT) return null;
  const here = spot(text);
  if (!here || (!context.explicit && here.from === context.pos && !/["[.]$/.test(text))) return null;
  const options =
    here.kind === "value" ? values(schema, here.path, context) : keys(schema, here.path, here.kind);
  return options.length > 0 ? { from: here.from, options, validFor: /^["\w-]*$/ } : null;
}

/** Puts a word in, also in place of a quotation mark that the editor added. */
function quoted(text: string) {
  return (view: EditorView, _: Completion, from: number, to: number) => {
    const end = view.state.sliceDoc(to, to + 1) === '"' ? to + 1 : to;
    const changes = { from, to: end, insert: text };
    view.dispatch({ changes, selection: { anchor: from + text.length }, userEvent: "input.complete" });
  };
}

function keys(schema: Schema, path: string[], kind: "header" | "key"): Completion[] {
  const words = schema.keys(path);
  if (kind === "header") {
    return words.filter((word) => word.holds !== "nothing").map((word) => completion(word, headed(word)));
  }
  return words
    .filter((word) => path.length > 0 || word.holds !== "names")
    .map((word) => completion(word, word.holds === "nothing" ? `${word.text} = ` : word.text));
}

/** What a header needs behind its name. */
function headed(word: Word): string {
  return word.holds === "names" ? `${word.text}.` : word.text;
}

function values(schema: Schema, path: string[], context: CompletionContext): Completion[] {
  const words = schema.values(path).map((word) => completion(word, quoted(word.text)));
  const isClass = path.at(-1) === "class" || path.at(-1) === "parent";
  if (!isClass || words.length > 0) return words;
  const named = context.state.doc.toString().matchAll(CLASS_NAME);
  const names = new Set(Array.from(named, ([, name]) => name?.replaceAll('"', "") ?? ""));
  return Array.from(names, (name) => JSON.stringify(name)).map((name) => ({ label: name, apply: quoted(name) }));
}

function completion({ text, about }: Word, apply: Completion["apply"]): Completion {
  return { label: text, apply, type: "property", info: about === "" ? undefined : () => described(about) };
}

/** The meaning of the word at a place. */
export function hover(schema: Schema, view: EditorView, at: number): Tooltip | null {
  const range = view.state.wordAt(at);
  if (!range || range.to > LIMIT) return null;
  // A key may have hyphens, at which words of text end.
  const line = view.state.doc.lineAt(at);
  const behind = /^[\w-]*/.exec(line.text.slice(at - line.from))?.[0].length ?? 0;
  const here = spot(view.state.sliceDoc(0, at + behind));
  if (!here) return null;
  const word = view.state.sliceDoc(here.from, at + behind).replace(/^["']/, "");
  const about = here.kind === "value" ? meant(schema, here.path, word) : schema.meaning([...here.path, word]);
  if (about === "") return null;
  return { pos: here.from, end: at + behind, create: () => ({ dom: described(about) }) };
}

function meant(schema: Schema, path: string[], word: string): string {
  return schema.values(path).find(({ text }) => text === JSON.stringify(word))?.about ?? "";
}

/** A description, whose code stands between backticks. */
function described(about: string): HTMLElement {
  const dom = document.createElement("div");
  dom.className = "described";
  about.split("`").forEach((piece, at) => {
    const part = document.createElement(at % 2 === 1 ? "code" : "span");
    part.textContent = piece;
    dom.append(part);
  });
  return dom;
}
