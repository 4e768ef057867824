// The form of simulations: what is asked, how far it has come, and how to give it up.

import { download, element, option } from "./dom.ts";
import type { PlanFiles } from "./files.ts";
import { Cancelled, type Laxity } from "./laxity.ts";
import type { Answer, Answered, PacketFormat, Question, Simulated } from "./protocol.ts";

/** What a simulation needs of the page. */
export interface Host {
  plan: () => string;
  files: PlanFiles;
  /** An answer, and whether it is of what the page shows now. */
  heard: (view: "run" | "compare", answer: Answer, isFresh: boolean) => void;
  /** Another number after each change of what is asked. */
  version: () => number;
  changed: () => void;
  /** The simulator has told what there is, and is free. */
  ready: () => Promise<void>;
}

/** The schedulers that are compared at first. */
const COMPARED = ["fifo", "wfq", "edf"];

export class Simulation {
  private readonly form = element<HTMLFormElement>("simulation");
  private readonly seed = element<HTMLInputElement>("seed");
  private readonly duration = element<HTMLInputElement>("duration");
  private readonly arrivals = element<HTMLSelectElement>("arrivals");
  private view: "run" | "compare" = "run";
  private chosen: string[] = COMPARED;
  /** How many questions there were: an older one is of no interest. */
  private count = 0;
  private isSent = false;

  constructor(private readonly laxity: Laxity, private readonly host: Host) {
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.start();
    });
    this.form.addEventListener("change", () => this.host.changed());
    element("cancel").addEventListener("click", () => this.cancel());
    this.listFiles();
  }

  get given(): { seed: string; duration: string; schedulers: string[] } {
    return { seed: this.seed.value, duration: this.duration.value, schedulers: this.schedulers() };
  }

  set given({ seed, duration, schedulers }) {
    [this.seed.value, this.duration.value] = [seed, duration];
    this.chosen = schedulers;
    this.boxes().forEach((box) => (box.checked = schedulers.includes(box.value)));
  }

  /** Shows the form of a view; none of proofs. */
  show(view: "check" | "run" | "compare"): void {
    this.form.hidden = view === "check";
    if (view === "check") return;
    this.view = view;
    element("schedulers").hidden = view !== "compare";
    element("start").textContent = view === "run" ? "Run" : "Compare";
  }

  /** Offers these schedulers. */
  offer(names: string[]): void {
    const labels = names.map((name) => {
      const [label, box] = [document.createElement("label"), document.createElement("input")];
      [box.type, box.value, box.checked] = ["checkbox", name, this.chosen.includes(name)];
      label.append(box, name);
      return label;
    });
    element("schedulers").append(...labels);
  }

  /** Offers the files that were added as arrivals. */
  listFiles(): void {
    const [chosen, names] = [this.arrivals.value, this.host.files.names];
    this.arrivals.replaceChildren(option("the plan’s sources", ""), ...names.map((name) => option(name, name)));
    this.arrivals.value = names.includes(chosen) ? chosen : "";
    element("arrivals-label").hidden = names.length === 0;
  }

  /** Simulates as the form says. */
  async start(): Promise<void> {
    const [view, version] = [this.view, this.host.version()];
    const question: Question =
      view === "run"
        ? { verb: "run", ...this.simulated() }
        : { verb: "compare", schedulers: this.schedulers(), ...this.simulated() };
    const answered = await this.ask(question);
    if (answered) this.host.heard(view, answered.answer, version === this.host.version());
  }

  /** Simulates again, to a file of packets. */
  async packets(packets: PacketFormat): Promise<void> {
    const version = this.host.version();
    const answered = await this.ask({ verb: "run", packets, ...this.simulated() });
    if (!answered) return;
    const { answer, bytes } = answered;
    if (answer === "packets") download(`packets.${packets}`, bytes as BlobPart, TYPES[packets]);
    else this.host.heard("run", answer, version === this.host.version());
  }

  private simulated(): Simulated {
    const { seed, duration } = this.given;
    const arrivals = this.arrivals.value || undefined;
    return { plan: this.host.plan(), seed, duration, arrivals };
  }

  private async ask(question: Question & Simulated): Promise<Answered | undefined> {
    const files = this.host.files.of(question.plan, question.arrivals);
    const bar = element<HTMLProgressElement>("progress");
    const number = ++this.count;
    this.busy(true);
    bar.removeAttribute("value");
    try {
      await this.host.ready();
      if (number !== this.count) return undefined;
      this.isSent = true;
      return await this.laxity.ask(question, files, { progress: (share) => (bar.value = share) });
    } catch (error) {
      if (!(error instanceof Cancelled)) throw error;
      return undefined;
    } finally {
      if (number === this.count) this.rest();
    }
  }

  private cancel(): void {
    this.count += 1;
    // Before that the simulator is asked something else.
    if (this.isSent) this.laxity.cancel();
    this.rest();
  }

  private rest(): void {
    this.isSent = false;
    this.busy(false);
  }

  private busy(is: boolean): void {
    element("progress").hidden = !is;
    element("cancel").hidden = !is;
    element<HTMLButtonElement>("start").disabled = is;
  }

  private schedulers(): string[] {
    const boxes = this.boxes();
    return boxes.length === 0 ? this.chosen : boxes.filter((box) => box.checked).map((box) => box.value);
  }

  private boxes(): HTMLInputElement[] {
    return [...element("schedulers").querySelectorAll("input")];
  }
}

const TYPES: Record<PacketFormat, string> = { csv: "text/csv", parquet: "application/vnd.apache.parquet" };
