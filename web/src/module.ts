// Laxity as a module of WebAssembly.

import { unpacked } from "./gzip.ts";

interface Exports {
  memory: WebAssembly.Memory;
  question(length: number): number;
  ask(): number;
  answer(): number;
}

/** The most memory that the module may take, in bytes; crates/laxity-web/build.rs says so. */
const MOST_MEMORY = 2 ** 30;

/** The module's end: it is not to be asked again. */
export class Died extends Error {}

export class LaxityModule {
  private exports!: Exports;
  private panic = "";

  /** Starts the module of these bytes, which may be compressed by gzip. */
  static async start(bytes: ArrayBuffer, progress: (share: number) => void): Promise<LaxityModule> {
    const laxity = new LaxityModule();
    const host = {
      progress,
      now: () => performance.now(),
      panicked: (at: number, length: number) => {
        laxity.panic = new TextDecoder().decode(laxity.bytes(at, length));
      },
    };
    const { instance } = await WebAssembly.instantiate(await unpacked(bytes), { host });
    laxity.exports = instance.exports as unknown as Exports;
    return laxity;
  }

  /** The bytes of an answer to those of a question. */
  ask(question: Uint8Array): Uint8Array {
    try {
      const place = this.exports.question(question.length);
      if (place === 0) throw new Died(OUT_OF_MEMORY);
      this.bytes(place, question.length).set(question);
      const length = this.exports.ask();
      return this.bytes(this.exports.answer(), length).slice();
    } catch (error) {
      throw new Died(this.cause(error));
    }
  }

  private bytes(at: number, length: number): Uint8Array {
    return new Uint8Array(this.exports.memory.buffer, at >>> 0, length);
  }

  private cause(error: unknown): string {
    if (error instanceof Died) return error.message;
    if (this.panic) return `This is a fault of Laxity's own: ${this.panic}`;
    const isFull = this.exports.memory.buffer.byteLength > MOST_MEMORY / 2;
    return isFull ? OUT_OF_MEMORY : `This is a fault of Laxity's own: ${error}`;
  }
}

const OUT_OF_MEMORY =
  "This takes more than the 1 GiB of memory that a page gives to Laxity. Simulate a shorter " +
  "duration or a smaller plan, or use the command.";
