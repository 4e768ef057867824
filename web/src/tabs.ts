// The tabs of the results, by the pattern of the ARIA Authoring Practices: arrows move, one tab
// alone is reached by the tabulator.

import { element } from "./dom.ts";
import type { View } from "./share.ts";

const VIEWS: View[] = ["check", "run", "compare"];

export class Tabs {
  private current: View = "check";

  constructor(private readonly chosen: (view: View) => void) {
    for (const [at, view] of VIEWS.entries()) {
      const tab = element(`tab-${view}`);
      tab.addEventListener("click", () => this.choose(view));
      tab.addEventListener("keydown", ({ key }) => {
        const step = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? VIEWS.length - 1 : 0;
        const next = VIEWS[(at + step) % VIEWS.length];
        if (step === 0 || !next) return;
        this.choose(next);
        element(`tab-${next}`).focus();
      });
    }
  }

  get view(): View {
    return this.current;
  }

  choose(view: View): void {
    this.current = view;
    for (const other of VIEWS) {
      const tab = element(`tab-${other}`);
      tab.setAttribute("aria-selected", String(other === view));
      tab.tabIndex = other === view ? 0 : -1;
    }
    element("panel").setAttribute("aria-labelledby", `tab-${view}`);
    this.chosen(view);
  }
}
