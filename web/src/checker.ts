// The proof of the plan as it is typed: the newest text counts.

import { Cancelled, type Laxity } from "./laxity.ts";
import type { PlanFile } from "./protocol.ts";
import type { Answer } from "./protocol.ts";

/** How long typing pauses before the plan is checked, in ms. */
const PAUSE = 120;
/** How long a check may go on while its text is not the newest any more, in ms. */
const OUTDATED = 1000;
/** How long any check may take, in ms. */
const LIMIT = 10_000;
/** The longest plan that is checked while it is typed, in letters. */
const LONGEST = 1 << 18;

/** What is checked. */
export interface Asked {
  plan: string;
  files: PlanFile[];
}

export class Checker {
  private timer?: number;
  private begun?: number;
  private isOutdated = false;

  constructor(
    private readonly laxity: Laxity,
    private readonly asked: () => Asked,
    private readonly heard: (answer: Answer) => void,
  ) {}

  /** Checks after a pause, or at once. */
  check(atOnce = false): void {
    clearTimeout(this.timer);
    if (this.begun !== undefined) this.outdated(this.begun);
    else this.timer = setTimeout(() => void this.ask(), atOnce ? 0 : PAUSE);
  }

  private outdated(begun: number): void {
    this.isOutdated = true;
    const left = Math.max(PAUSE, OUTDATED - (performance.now() - begun));
    this.timer = setTimeout(() => this.laxity.cancel(), left);
  }

  private async ask(): Promise<void> {
    const { plan, files } = this.asked();
    if (plan.length > LONGEST) return this.heard({ fault: { message: TOO_LONG } });
    const begun = performance.now();
    this.begun = begun;
    this.isOutdated = false;
    let answer: Answer | undefined;
    try {
      answer = (await this.laxity.ask({ verb: "check", plan }, files, { limit: LIMIT })).answer;
    } catch (error) {
      if (!(error instanceof Cancelled)) throw error;
    }
    clearTimeout(this.timer);
    this.begun = undefined;
    if (this.isOutdated || !answer) return this.check(true);
    this.heard(answer);
  }
}

const TOO_LONG =
  `This plan has more than ${LONGEST >> 10} Ki letters, the most that are proved while you type. ` +
  "Use the command for it: laxity check plan.toml.";
