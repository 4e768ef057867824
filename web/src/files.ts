// Files that lie beside the plan: those of examples, and those that are dropped on the page.

import type { PlanFile } from "./protocol.ts";

/** The largest file that is taken, in bytes: a quarter of the memory that Laxity has here. */
const LIMIT = 256 << 20;

export class PlanFiles {
  private readonly files = new Map<string, PlanFile>();

  /** Takes a file. Gives a sentence if that cannot be. */
  async take(file: File): Promise<string | undefined> {
    if (file.size > LIMIT) {
      return `${file.name} is larger than ${LIMIT >> 20} MiB, the most that a page takes: use the command.`;
    }
    this.add({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) });
    return undefined;
  }

  add(file: PlanFile): void {
    this.files.set(file.name, file);
  }

  remove(name: string): void {
    this.files.delete(name);
  }

  get names(): string[] {
    return [...this.files.keys()];
  }

  /** The files that a plan names, and this one. */
  of(plan: string, arrivals?: string): PlanFile[] {
    return [...this.files.values()].filter(({ name }) => name === arrivals || plan.includes(name));
  }
}
