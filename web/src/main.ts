// The page: it opens what the address says, and asks Laxity what its parts are told to.

import { asset } from "./asset.ts";
import { Checker } from "./checker.ts";
import { button, download, element } from "./dom.ts";
import { Editor } from "./editor.ts";
import { PlanFiles } from "./files.ts";
import { Laxity } from "./laxity.ts";
import * as plans from "./plans.ts";
import type { Answer } from "./protocol.ts";
import { Results } from "./results.ts";
import { Schema } from "./schema.ts";
import { type State, fragment, state } from "./share.ts";
import { Simulation } from "./simulation.ts";
import { Tabs } from "./tabs.ts";

/** A longer plan is not part of the address. */
const LONGEST_LINK = 1 << 17;

class Page {
  private readonly files = new PlanFiles();
  private readonly menu = element<HTMLSelectElement>("plans");
  private readonly results: Results;
  private readonly simulation: Simulation;
  private readonly tabs: Tabs;
  private readonly checker: Checker;
  private readonly editor: Editor;
  private hasProof = false;
  private version = 0;
  private told!: () => void;
  /** Resolves when the simulator has told what there is. */
  private readonly ready = new Promise<void>((told) => (this.told = told));

  constructor(prover: Laxity, private readonly simulator: Laxity, plan: string) {
    this.results = new Results({
      show: (from) => this.editor.show(from),
      packets: (format) => void this.simulation.packets(format),
    });
    this.simulation = new Simulation(simulator, {
      plan: () => this.editor.text,
      files: this.files,
      heard: (view, answer, isFresh) => this.heard(view, answer, isFresh),
      version: () => this.version,
      changed: () => this.changed(),
      ready: () => this.ready,
    });
    this.tabs = new Tabs(() => this.viewed());
    this.checker = new Checker(
      prover,
      () => ({ plan: this.editor.text, files: this.files.of(this.editor.text) }),
      (answer) => this.proved(answer),
    );
    this.editor = new Editor(element("editor"), plan, { changed: () => this.changed(), run: () => this.run() });
    this.listen();
  }

  /** Opens a state, and simulates if that is what it shows. */
  async open(opened: Partial<State>): Promise<void> {
    const { seed = "", duration = "", view = "check" } = opened;
    const schedulers = opened.schedulers ?? this.simulation.given.schedulers;
    this.simulation.given = { seed, duration, schedulers };
    await this.bring();
    this.tabs.choose(view);
    this.checker.check(true);
    if (view !== "check") await this.simulation.start();
  }

  private listen(): void {
    plans.fill(this.menu);
    this.menu.addEventListener("change", () => void this.choose(this.menu.value));
    element("share").addEventListener("click", () => void this.share());
    element("save").addEventListener("click", () => download("plan.toml", this.editor.text, "application/toml"));
    const input = element<HTMLInputElement>("file");
    input.addEventListener("change", () => {
      void this.take([...(input.files ?? [])]);
      input.value = "";
    });
    addEventListener("dragover", (event) => {
      event.preventDefault();
      document.body.classList.add("dropping");
    });
    addEventListener("dragleave", () => document.body.classList.remove("dropping"));
    // Before the editor, which would write a file into the plan.
    addEventListener("drop", (event) => this.drop(event), { capture: true });
    addEventListener("hashchange", () => void this.reopen());
  }

  private drop(event: DragEvent): void {
    document.body.classList.remove("dropping");
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    event.stopPropagation();
    void this.take(files);
  }

  /** Opens what a link says that was put into the address of this page. */
  private async reopen(): Promise<void> {
    const opened = await state(location.hash.slice(1));
    if (!opened) return;
    if (opened.plan !== undefined) this.editor.text = opened.plan;
    await this.open(opened);
  }

  /** The plan that is written may be one of the menu: then its files come with it. */
  private async bring(): Promise<void> {
    const listed = plans.plans.find(({ text }) => text === this.editor.text);
    this.menu.value = listed?.path ?? "";
    if (!listed) return;
    for (const file of await plans.filesOf(listed)) this.files.add(file);
    this.listFiles();
  }

  private async choose(path: string): Promise<void> {
    const listed = plans.named(path);
    if (!listed) return;
    const files = await plans.filesOf(listed);
    // Another one may have been chosen or written meanwhile.
    if (this.menu.value !== path) return;
    for (const file of files) this.files.add(file);
    this.listFiles();
    this.editor.text = listed.text;
  }

  private changed(): void {
    this.version += 1;
    this.results.outdate();
    if (this.tabs.view !== "check") this.results.render(this.tabs.view);
    this.menu.value = plans.plans.find(({ text }) => text === this.editor.text)?.path ?? "";
    this.checker.check();
  }

  private viewed(): void {
    this.simulation.show(this.tabs.view);
    this.results.render(this.tabs.view);
    if (this.hasProof) void this.remember();
  }

  private run(): void {
    if (this.tabs.view === "check") this.tabs.choose("run");
    void this.simulation.start();
  }

  private proved(answer: Answer): void {
    this.editor.mark(typeof answer === "object" && "fault" in answer ? answer.fault : undefined);
    this.heard("check", answer);
    void this.remember();
    if (this.hasProof) return;
    this.hasProof = true;
    performance.mark("first-proof");
    void this.explain().finally(this.told);
  }

  private heard(view: State["view"], answer: Answer, isFresh = true): void {
    this.results.set(view, answer);
    if (!isFresh) this.results.outdate();
    if (this.tabs.view === view) this.results.render(view);
  }

  /** Asks what there is, for the editor and the form. */
  private async explain(): Promise<void> {
    const { answer } = await this.simulator.ask({ verb: "about" }, []);
    if (typeof answer !== "object" || !("about" in answer)) return;
    this.editor.explain(new Schema(JSON.parse(answer.about.schema)));
    this.simulation.offer(answer.about.schedulers);
  }

  private async take(files: File[]): Promise<void> {
    for (const file of files) {
      if (file.name.endsWith(".toml")) {
        this.editor.text = await file.text();
        continue;
      }
      const refused = await this.files.take(file);
      if (refused) this.heard(this.tabs.view, { fault: { message: refused } });
    }
    this.listFiles();
    this.checker.check();
  }

  private listFiles(): void {
    const items = this.files.names.map((name) => {
      const item = document.createElement("li");
      const remove = button("×", () => {
        this.files.remove(name);
        this.listFiles();
        this.checker.check();
      });
      remove.setAttribute("aria-label", `Remove ${name}`);
      item.append(name, remove);
      return item;
    });
    element("files").replaceChildren(...items);
    this.simulation.listFiles();
  }

  /** Has the address say what is shown; returns it, unless the plan is too long for one. */
  private async remember(): Promise<string | undefined> {
    const plan = this.editor.text;
    const isLong = plan.length > LONGEST_LINK;
    const said = isLong ? "" : await fragment({ plan, view: this.tabs.view, ...this.simulation.given });
    history.replaceState(null, "", `#${said}`);
    return isLong ? undefined : location.href;
  }

  private async share(): Promise<void> {
    const link = await this.remember();
    const copied = link && (await navigator.clipboard?.writeText(link).then(() => true, () => false));
    const share = element("share");
    share.textContent = !link ? "Too long for a link" : copied ? "Copied" : "The address is the link";
    setTimeout(() => (share.textContent = "Copy link"), 2500);
  }
}

async function open(): Promise<void> {
  // Proofs have a small module of their own, so that the first of them is there soon.
  const prover = new Laxity(() => asset("prover.wasm.gz"));
  const simulator = new Laxity(() => asset("laxity.wasm.gz"));
  void prover.start().catch(() => undefined);
  const opened: Partial<State> = (await state(location.hash.slice(1))) ?? {};
  const plan = opened.plan ?? plans.named(plans.first)?.text ?? "";
  const page = new Page(prover, simulator, plan);
  await page.open(opened);
}

void open();
