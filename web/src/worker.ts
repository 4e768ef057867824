// The thread that asks Laxity, so that typing never waits.

import { Died, LaxityModule } from "./module.ts";
import type { FromWorker, ToWorker } from "./protocol.ts";

/** How long the page is not told of progress again, in ms. */
const PAUSE = 50;

let told = 0;

function tell(message: FromWorker, moved: Transferable[] = []): void {
  (self as unknown as Worker).postMessage(message, moved);
}

function progress(share: number): void {
  const now = performance.now();
  if (now - told < PAUSE) return;
  told = now;
  tell({ kind: "progress", share });
}

let starting: Promise<LaxityModule> | undefined;

self.onmessage = async ({ data }: MessageEvent<ToWorker>) => {
  try {
    if (data.kind === "start") {
      starting = LaxityModule.start(data.module, progress);
      await starting;
      return;
    }
    const laxity = await starting;
    if (!laxity) throw new Died("A worker was asked before it was started.");
    const message = laxity.ask(data.question);
    tell({ kind: "answer", message }, [message.buffer]);
  } catch (error) {
    tell({ kind: "died", message: error instanceof Error ? error.message : String(error) });
  }
};
