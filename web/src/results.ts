// What came of the questions: a report, or why there is none, with what can be downloaded of it.

import { button, download, element } from "./dom.ts";
import type { Answer, Fault, PacketFormat } from "./protocol.ts";
import { ReportFrame } from "./report.ts";
import type { View } from "./share.ts";

const TITLES: Record<View, string> = { check: "Proof", run: "Run", compare: "Comparison" };

/** What the panel asks of the page. */
export interface Asking {
  show: (from: number) => void;
  packets: (format: PacketFormat) => void;
}

export class Results {
  private readonly answers = new Map<View, Answer>();
  private readonly stale = new Set<View>();
  private readonly frame = new ReportFrame(element("report"));
  private shown?: { view: View; answer?: Answer };

  constructor(private readonly asking: Asking) {}

  set(view: View, answer: Answer): void {
    this.answers.set(view, answer);
    this.stale.delete(view);
  }

  /** Runs are of the plan as it was. */
  outdate(): void {
    this.stale.add("run").add("compare");
  }

  /** Shows what is known in a view. */
  render(view: View): void {
    const answer = this.answers.get(view);
    const isStale = this.stale.has(view) && answer !== undefined;
    element("report").classList.toggle("stale", isStale);
    this.status(view, answer, isStale);
    if (this.shown?.view === view && this.shown.answer === answer) return;
    const before = this.shown;
    this.shown = { view, answer };
    this.message(view, answer);
    if (answer === undefined || answer === "packets") this.frame.clear();
    else if ("result" in answer) this.frame.show(answer.result.page, TITLES[view]);
    else if (before?.view !== view || view !== "check") this.frame.clear();
    else element("report").classList.add("stale");
    this.downloads(view, answer);
  }

  private status(view: View, answer: Answer | undefined, isStale: boolean): void {
    const [text, kind] = isStale ? ["The plan has changed since", ""] : worded(view, answer);
    const status = element("status");
    if (status.textContent !== text) status.textContent = text;
    status.className = kind;
  }

  private message(view: View, answer: Answer | undefined): void {
    const box = element("message");
    const fault = answer !== undefined && typeof answer === "object" && "fault" in answer ? answer.fault : undefined;
    const notes = answer !== undefined && typeof answer === "object" && "result" in answer ? answer.result.notes : [];
    const hint = answer === undefined ? HINTS[view] : notes.map((note) => `Note: ${note}.`).join("\n");
    box.hidden = fault === undefined && hint === "";
    box.classList.toggle("bad", fault !== undefined);
    box.replaceChildren(...(fault ? this.faulty(fault) : [hint]));
  }

  private faulty({ message, help, place }: Fault): Node[] {
    const what = document.createElement("p");
    what.textContent = message;
    const cure = document.createElement("p");
    cure.textContent = help ?? "";
    const parts: Node[] = help ? [what, cure] : [what];
    if (place) parts.push(button(`Go to line ${place.line}`, () => this.asking.show(place.from)));
    return parts;
  }

  private downloads(view: View, answer: Answer | undefined): void {
    const box = element("downloads");
    box.replaceChildren();
    if (answer === undefined || answer === "packets" || !("result" in answer)) return;
    const { page, json } = answer.result;
    const label = document.createElement("span");
    label.textContent = "Save";
    box.append(
      label,
      button("Report", () => download(`${view}.html`, page, "text/html")),
      button("JSON", () => download(`${view}.json`, json, "application/json")),
    );
    if (view !== "run") return;
    box.append(
      button("Packets, CSV", () => this.asking.packets("csv")),
      button("Packets, Parquet", () => this.asking.packets("parquet")),
    );
  }
}

const HINTS: Record<View, string> = {
  check: "",
  run: "Run simulates the plan and holds it to what was proved: Ctrl+Enter.",
  compare: "Compare sends the same arrivals through several schedulers.",
};

/** What came of a question in a few words, and what kind of end that is. */
function worded(view: View, answer: Answer | undefined): [string, string] {
  if (answer === undefined || answer === "packets" || "about" in answer) return ["", ""];
  if ("fault" in answer) return ["No answer", "broken"];
  const { kept, broken } = WORDS[view];
  if (answer.result.kept === null) return ["Not decided", ""];
  return answer.result.kept ? [kept, "kept"] : [broken, "broken"];
}

const WORDS: Record<View, { kept: string; broken: string }> = {
  check: { kept: "Admitted", broken: "Not admitted" },
  run: { kept: "Promises kept", broken: "A promise was broken" },
  // Only the plan's own scheduler is held to what was promised.
  compare: { kept: "Compared", broken: "A promise was broken" },
};
