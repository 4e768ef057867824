// What the page asks of Laxity and what it hears: the types of crates/laxity-web.

/** A file that lies beside the plan. */
export interface PlanFile {
  name: string;
  bytes: Uint8Array;
}

/** A simulation: a plan, and its traffic where that is not what the plan says. */
export interface Simulated {
  plan: string;
  /** Digits, or nothing. */
  seed: string;
  /** As plans write it, such as `10s`, or nothing. */
  duration: string;
  /** The file in place of the plan's sources. */
  arrivals?: string;
}

export type PacketFormat = "csv" | "parquet";

export type Question =
  | { verb: "about" }
  | { verb: "check"; plan: string }
  | ({ verb: "run"; packets?: PacketFormat } & Simulated)
  | ({ verb: "compare"; schedulers: string[] } & Simulated);

/** A piece of the plan's text. */
export interface Place {
  from: number;
  to: number;
  line: number;
  column: number;
}

/** Why there is no answer. */
export interface Fault {
  message: string;
  help?: string;
  place?: Place;
}

export interface About {
  version: string;
  schedulers: string[];
  schema: string;
}

/** What a verb of the command prints with `--json`, and the same as a page. */
export interface Result {
  kept: boolean | null;
  json: string;
  page: string;
  notes: string[];
}

export type Answer =
  | { about: About }
  | { result: Result }
  | "packets"
  | { fault: Fault };

/** An answer, and the bytes of the file that was asked for. */
export interface Answered {
  answer: Answer;
  bytes: Uint8Array;
}

/** What a worker is told. */
export type ToWorker =
  | { kind: "start"; module: ArrayBuffer }
  | { kind: "ask"; question: Uint8Array };

/** What a worker tells. */
export type FromWorker =
  | { kind: "progress"; share: number }
  | { kind: "answer"; message: Uint8Array }
  | { kind: "died"; message: string };
