// The plans of the menu: the examples, and those of papers.

import { asset } from "./asset.ts";
import { option } from "./dom.ts";
import { unpacked } from "./gzip.ts";
import type { PlanFile } from "./protocol.ts";
// @ts-expect-error build.mjs writes it of the folders `examples` and `papers`.
import listed from "plans";

/** A plan of the menu. */
export interface Listed {
  group: string;
  /** Where it lies in the repository. */
  path: string;
  title: string;
  text: string;
  /** The files that it names: their text, or nothing if they are loaded when they are needed. */
  files: { name: string; text?: string }[];
}

export const plans: Listed[] = listed;

/** The plan that the page opens with. */
export const first = "papers/low-delay-best-effort/plan.toml";

/** Fills the menu. */
export function fill(menu: HTMLSelectElement): void {
  const groups = new Map<string, HTMLOptGroupElement>();
  menu.append(option("Your own", ""));
  for (const { group, path, title } of plans) {
    const under = groups.get(group) ?? document.createElement("optgroup");
    under.label = group;
    under.append(option(title, path));
    groups.set(group, under);
  }
  menu.append(...groups.values());
}

/** A plan by its path. */
export function named(path: string): Listed | undefined {
  return plans.find((plan) => plan.path === path);
}

/** The files of a plan. */
export async function filesOf(plan: Listed): Promise<PlanFile[]> {
  const loaded = plan.files.map(async ({ name, text }) => {
    if (text !== undefined) return { name, bytes: new TextEncoder().encode(text) };
    return { name, bytes: new Uint8Array(await unpacked(await asset(`${name}.gz`))) };
  });
  return Promise.all(loaded);
}
