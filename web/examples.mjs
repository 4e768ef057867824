// The plans of a folder, for the page's menu and for its tests.

import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";

/** What lies beside plans and is none. */
const NO_PLAN = /(-study|claims|spread)\.toml$/;

/** The name and text of each plan, and the names of the files that it reads. */
export async function plansOf(folder) {
  const entries = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isFile());
  const names = entries.map(({ name }) => name).sort((one, other) => one.localeCompare(other));
  const plans = names.filter((name) => name.endsWith(".toml") && !NO_PLAN.test(name));
  const others = names.filter((name) => !/\.(toml|md)$/.test(name));
  return Promise.all(
    plans.map(async (name) => {
      const text = await readFile(join(folder, name), "utf8");
      return { name, text, files: others.filter((other) => text.includes(`"${other}"`)) };
    }),
  );
}
