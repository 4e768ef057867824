// Bundles the page into web/dist, with the modules of WebAssembly that are given, one that proves and
// one that simulates, too: node build.mjs PROVER WHOLE

import { build } from "esbuild";
import { copyFile, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { plansOf } from "./examples.mjs";

const WEB = dirname(fileURLToPath(import.meta.url));
const ROOT = join(WEB, "..");
const DIST = join(WEB, "dist");
/** A file of an example that is larger is loaded when it is needed. */
const BUNDLED = 64 << 10;

const [prover, whole] = process.argv.slice(2);
if (!whole) throw new Error("give the modules of WebAssembly: node build.mjs PROVER WHOLE");

const common = { bundle: true, minify: true, target: "es2022", logLevel: "warning", legalComments: "none" };

await rm(DIST, { recursive: true, force: true });
await mkdir(DIST);
await asset("prover.wasm", await readFile(prover));
await asset("laxity.wasm", await readFile(whole));
const worker = await build({ ...common, entryPoints: [join(WEB, "src/worker.ts")], write: false, format: "iife" });
const texts = {
  "worker-text": `export default ${JSON.stringify(worker.outputFiles[0].text)}`,
  plans: `export default ${JSON.stringify(await plans())}`,
};
await build({
  ...common,
  entryPoints: [join(WEB, "src/main.ts")],
  outfile: join(DIST, "app.js"),
  format: "iife",
  plugins: [{ name: "texts", setup }],
});
// What tests run outside of a browser.
await build({
  ...common,
  minify: false,
  entryPoints: [join(WEB, "src/module.ts"), join(WEB, "src/message.ts"), join(WEB, "src/toml.ts")],
  outdir: join(WEB, "dist-test"),
  outExtension: { ".js": ".mjs" },
  format: "esm",
});
await copyFile(join(WEB, "src/index.html"), join(DIST, "index.html"));
await copyFile(join(WEB, "src/style.css"), join(DIST, "style.css"));
await writeFile(join(DIST, "licences.txt"), await licences());

function setup({ onResolve, onLoad }) {
  onResolve({ filter: /^(worker-text|plans)$/ }, ({ path }) => ({ path, namespace: "texts" }));
  onLoad({ filter: /.*/, namespace: "texts" }, ({ path }) => ({ contents: texts[path], loader: "js" }));
}

/** Writes a file, compressed, and as a script for pages of a folder, which may not read files. */
async function asset(name, bytes) {
  const packed = gzipSync(bytes, { level: 9 });
  await writeFile(join(DIST, `${name}.gz`), packed);
  const held = JSON.stringify(packed.toString("base64"));
  await writeFile(join(DIST, `${name}.gz.js`), `(globalThis.laxityAssets ??= {})["${name}.gz"] = ${held};\n`);
}

async function plans() {
  const papers = (await readdir(join(ROOT, "papers"))).sort();
  const folders = [["Examples", "examples"], ...papers.map((paper) => ["Papers", `papers/${paper}`])];
  const listed = [];
  for (const [group, folder] of folders) {
    for (const { name, text, files } of await plansOf(join(ROOT, folder))) {
      const title = /^title = "(.*)"$/m.exec(text)?.[1] ?? name;
      listed.push({ group, path: `${folder}/${name}`, title, text, files: await held(folder, files) });
    }
  }
  return listed;
}

async function held(folder, names) {
  return Promise.all(
    names.map(async (name) => {
      const bytes = await readFile(join(ROOT, folder, name));
      if (bytes.length <= BUNDLED) return { name, text: bytes.toString("utf8") };
      await asset(name, bytes);
      return { name };
    }),
  );
}

/** The licences of what is bundled, which ask for their texts to be kept. */
async function licences() {
  const lock = JSON.parse(await readFile(join(WEB, "package-lock.json"), "utf8"));
  const bundled = Object.keys(lock.packages).filter((path) => /node_modules\/(@codemirror|@lezer|@marijn|crelt|style-mod|w3c-keyname)/.test(path));
  const texts = bundled.map(async (path) => `${path}\n\n${await readFile(join(WEB, path, "LICENSE"), "utf8")}`);
  return (await Promise.all(texts)).join("\n\n");
}
