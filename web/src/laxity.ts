// The page's side of a worker: one question at a time, and a new worker in place of one that died.

import { read, written } from "./message.ts";
import type { Answered, FromWorker, PlanFile, Question, ToWorker } from "./protocol.ts";
// @ts-expect-error build.mjs bundles the worker as text: pages of a folder may not load one.
import workerText from "worker-text";

/** How long a question may take, in ms, and who hears of its progress. */
export interface Patience {
  limit?: number;
  progress?: (share: number) => void;
}

/** A question was given up in favour of another. */
export class Cancelled extends Error {}

/** What is asked at the moment. */
interface Pending {
  settle: (answered: Answered) => void;
  fail: (error: Error) => void;
  limit?: number;
  progress?: (share: number) => void;
  timer?: number;
}

export class Laxity {
  private worker?: Worker;
  private pending?: Pending;

  private loading?: Promise<ArrayBuffer>;

  /** `load` loads the module of WebAssembly when it is needed. */
  constructor(private readonly load: () => Promise<ArrayBuffer>) {}

  /** Starts a worker before there is a question. */
  async start(): Promise<Worker> {
    this.loading ??= this.load().catch((error) => {
      this.loading = undefined;
      throw error;
    });
    const module = await this.loading;
    if (this.worker) return this.worker;
    const address = URL.createObjectURL(new Blob([workerText], { type: "text/javascript" }));
    const worker = new Worker(address);
    URL.revokeObjectURL(address);
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.hear(data);
    worker.onerror = (event) => this.end(failed(event.message || "the worker could not start"));
    worker.postMessage({ kind: "start", module } satisfies ToWorker);
    this.worker = worker;
    return worker;
  }

  /** Asks, in place of what is asked at the moment. What went wrong in a worker is an answer. */
  async ask(question: Question, files: PlanFile[], patience: Patience = {}): Promise<Answered> {
    this.cancel();
    const answered = new Promise<Answered>((settle, fail) => {
      const { limit, progress } = patience;
      this.pending = { settle, fail, limit, progress };
    });
    const asked = this.pending;
    this.start().then(
      (worker) => {
        if (!asked || this.pending !== asked) return;
        const { limit } = asked;
        // The time that a module takes to load is not the question's.
        if (limit !== undefined) asked.timer = setTimeout(() => this.end(tooLong(limit)), limit);
        const message: ToWorker = { kind: "ask", question: written(question, files) };
        worker.postMessage(message, [message.question.buffer]);
      },
      (error) => this.pending === asked && this.end(failed(String(error))),
    );
    return answered;
  }

  /** Gives up what is asked at the moment. */
  cancel(): void {
    const pending = this.pending;
    if (!pending) return;
    this.discard();
    pending.fail(new Cancelled());
  }

  private hear(heard: FromWorker): void {
    if (heard.kind === "progress") this.pending?.progress?.(heard.share);
    else if (heard.kind === "died") this.end(failed(heard.message));
    else this.settled()?.settle(read(heard.message));
  }

  /** The worker is of no use any more: a sentence is the answer, and the next question has another. */
  private end(message: string): void {
    const pending = this.pending;
    this.discard();
    pending?.settle({ answer: { fault: { message } }, bytes: new Uint8Array() });
  }

  private discard(): void {
    this.settled();
    this.worker?.terminate();
    this.worker = undefined;
  }

  private settled(): Pending | undefined {
    const pending = this.pending;
    clearTimeout(pending?.timer);
    this.pending = undefined;
    return pending;
  }
}

function failed(message: string): string {
  return `Laxity gave up. ${message}`;
}

function tooLong(limit: number): string {
  return `Laxity gave up after ${limit / 1000} s. Use the command for a plan that takes as long.`;
}
