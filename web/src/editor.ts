// The editor of the plan.

import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  startCompletion,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import {
  EditorView,
  drawSelection,
  highlightActiveLine,
  hoverTooltip,
  keymap,
  lineNumbers,
  tooltips,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { complete, hover } from "./help.ts";
import type { Fault } from "./protocol.ts";
import type { Schema } from "./schema.ts";

const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: tags.string, color: "var(--string)" },
  { tag: [tags.number, tags.bool, tags.atom], color: "var(--number)" },
  { tag: tags.propertyName, color: "var(--key)" },
  { tag: tags.bracket, color: "var(--ink)" },
]);

/** What the editor tells. */
export interface Listener {
  changed: () => void;
  run: () => void;
}

export class Editor {
  private readonly view: EditorView;
  private schema?: Schema;

  constructor(parent: HTMLElement, text: string, private readonly listener: Listener) {
    this.view = new EditorView({ parent, state: this.state(text) });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  /** Puts another plan in place of this one, with a history of its own. */
  set text(text: string) {
    this.view.setState(this.state(text));
    this.listener.changed();
  }

  /** Completes and explains what this schema says. */
  explain(schema: Schema): void {
    this.schema = schema;
  }

  /** Underlines what is wrong, if anything is, and gives the cure. */
  mark(fault: Fault | undefined): void {
    const marks = fault?.place ? [this.diagnostic(fault)] : [];
    this.view.dispatch(setDiagnostics(this.view.state, marks));
  }

  /** Shows a place and puts the cursor there. */
  show(from: number): void {
    const at = Math.min(from, this.view.state.doc.length);
    this.view.dispatch({ selection: { anchor: at }, scrollIntoView: true });
    this.view.focus();
  }

  private diagnostic({ message, help, place }: Fault): Diagnostic {
    const length = this.view.state.doc.length;
    const from = Math.min(place?.from ?? 0, length);
    const to = Math.min(Math.max(place?.to ?? 0, from), length);
    return { from, to, severity: "error", message: help ? `${message}\n${help}` : message };
  }

  private state(text: string): EditorState {
    return EditorState.create({ doc: text, extensions: this.extensions() });
  }

  private extensions(): Extension {
    const schema = <T>(ask: (schema: Schema) => T | null) => (this.schema ? ask(this.schema) : null);
    return [
      lineNumbers(),
      lintGutter(),
      history(),
      drawSelection(),
      bracketMatching(),
      closeBrackets(),
      highlightActiveLine(),
      StreamLanguage.define(toml),
      syntaxHighlighting(colours),
      tooltips({ position: "fixed" }),
      autocompletion({ override: [(context) => schema((it) => complete(it, context))], icons: false }),
      hoverTooltip((view, at) => schema((it) => hover(it, view, at))),
      EditorView.contentAttributes.of({ "aria-label": "Plan", spellcheck: "false", autocapitalize: "off" }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) this.listener.changed();
        const isTyped = update.transactions.some((change) => change.isUserEvent("input.type"));
        const at = update.state.selection.main.head;
        // What begins a word is no letter, at which completion would begin by itself.
        if (isTyped && /["[.]/.test(update.state.sliceDoc(at - 1, at))) setTimeout(() => startCompletion(this.view));
      }),
      keymap.of([
        { key: "Mod-Enter", run: () => (this.listener.run(), true), preventDefault: true },
        ...closeBracketsKeymap,
        ...completionKeymap,
        ...defaultKeymap,
        ...historyKeymap,
        ...searchKeymap,
      ]),
    ];
  }
}
