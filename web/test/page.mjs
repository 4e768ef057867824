// The page in Chromium, over HTTP and from its folder: node page.mjs CHROMIUM DIST [PICTURES]

import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { CONTROL, Chromium } from "./chromium.mjs";
import { serve } from "./serve.mjs";

const [program, dist, pictures] = process.argv.slice(2);
/** The most that is loaded until the first proof, compressed by gzip, in bytes: what a line of 10 Mbit/s brings in a second. */
const MOST_BYTES = 1_250_000;
/** How long the first proof may take behind the opening of the page, in ms. */
const FIRST_PROOF = 1500;
/** How long a check may take from the last key on, in ms: the pause and the proof. */
const AFTER_TYPING = 400;

const proof = `performance.getEntriesByName("first-proof")[0]?.startTime`;
const status = `document.querySelector("#status").textContent`;
const report = `document.querySelector("#report iframe")`;
const text = `document.querySelector(".cm-content").cmTile.root.view.state.doc.toString()`;

const server = await serve(dist);
const browser = await Chromium.start(program);
let failed = 0;
try {
  for (const [what, test] of tests()) {
    try {
      const told = await test();
      console.log(`ok      ${what}${told ? `: ${told}` : ""}`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${what}\n${error.stack}`);
    }
  }
} finally {
  await browser.close();
  server.close();
}
process.exitCode = failed === 0 ? 0 : 1;

function tests() {
  return [
    ["what is loaded until the first proof is small", small],
    ["the first proof is there in time", firstProof],
    ["the page works from a folder", fromFolder],
    ["nothing is asked of any other place", nothingLeaves],
    ["a mistake is underlined, with its cure", underlined],
    ["keys and values are completed, and explained", completed],
    ["the proof follows typing", followed],
    ["a run shows its figures, by keys alone", ran],
    ["schedulers are compared", compared],
    ["a run is given up", cancelled],
    ["a run of an older plan is said to be one", outdated],
    ["a link opens the same", linked],
    ["every plan of the menu is proved", everyPlan],
    ["a capture of an example is simulated", captured],
    ["a file that is dropped is simulated", dropped],
    ["packets can be had", packets],
    ["a plan of a million classes gets a sentence", huge],
    ["a plan that takes too much memory does not end the page", tooMuch],
    ["everything has a name, and is reached by keys", reached],
    ["390 px are enough, light and dark", narrow],
  ];
}

/** Opens the page, waits for its first proof, tests, and wants no error on the way. */
async function opened(test, { address = server.address, fragment = "", ...options } = {}) {
  const page = await browser.page(address + fragment, options);
  try {
    await page.until(proof, "there is a proof");
    const told = await test(page);
    assert.deepEqual(page.errors, []);
    return told;
  } finally {
    await page.close();
  }
}

/** Puts a text in place of the plan, with the cursor at its end or its beginning. */
async function write(page, plan, atEnd = false) {
  await page.value(`{
    const { view } = document.querySelector(".cm-content").cmTile.root;
    view.focus();
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: ${JSON.stringify(plan)} } });
    view.dispatch({ selection: { anchor: ${atEnd} ? view.state.doc.length : 0 }, scrollIntoView: true });
  }`);
}

async function small() {
  const names = ["index.html", "style.css", "app.js", "prover.wasm.gz"];
  const sizes = await Promise.all(
    names.map(async (name) => {
      const bytes = await readFile(join(dist, name));
      return name.endsWith(".gz") ? bytes.length : gzipSync(bytes, { level: 9 }).length;
    }),
  );
  const sum = sizes.reduce((all, size) => all + size, 0);
  const told = `${names.map((name, at) => `${name} ${sizes[at]}`).join(", ")}: ${sum} bytes`;
  assert.ok(sum <= MOST_BYTES, told);
  return told;
}

async function firstProof() {
  const times = [];
  for (let round = 0; round < 5; round += 1) {
    times.push(Math.round(await opened((page) => page.value(proof))));
  }
  times.sort((one, other) => one - other);
  assert.ok(times[2] <= FIRST_PROOF, `${times} ms`);
  return `${times.join(", ")} ms`;
}

async function fromFolder() {
  const address = pathToFileURL(join(dist, "index.html")).href;
  return opened(
    async (page) => {
      assert.equal(await page.value(status), "Admitted");
      await page.until(`${report}?.contentDocument?.querySelectorAll("table").length > 0`, "the proof is shown");
    },
    { address },
  );
}

async function nothingLeaves() {
  return opened(async (page) => {
    assert.ok(page.requests.length >= 4, "the requests are seen");
    for (const request of page.requests) assert.match(request, /^(data:|blob:|http:\/\/127\.0\.0\.1:)/);
    const refused = await page.value(`fetch("http://localhost:9/").then(() => "sent", (error) => error.message)`);
    assert.match(refused, /Failed to fetch|Refused/);
    assert.ok(page.errors.every((error) => /Content Security Policy/.test(error)) && page.errors.length > 0);
    page.errors.length = 0;
  });
}

async function underlined() {
  return opened(async (page) => {
    const plan = await page.value(text);
    await write(page, plan.replace('kind = "edf"', 'kind = "edd"'));
    await page.until(`document.querySelectorAll(".cm-lintRange-error").length > 0`, "something is underlined");
    assert.equal(await page.value(`document.querySelector(".cm-lintRange-error").textContent`), '"edd"');
    const message = await page.value(`document.querySelector("#message").textContent`);
    assert.match(message, /did you mean `edf`\?/);
    assert.equal(await page.value(status), "No answer");
    await page.value(`document.querySelector("#message button").click()`);
    assert.ok(await page.value(`document.activeElement.classList.contains("cm-content")`));
    await write(page, plan);
    await page.until(`${status} === "Admitted"`, "the mistake is mended");
    assert.equal(await page.value(`document.querySelectorAll(".cm-lintRange-error").length`), 0);
  });
}

async function completed() {
  return opened(async (page) => {
    await page.until(`document.querySelectorAll("#schedulers input").length > 5`, "the schema is there");
    await write(page, "version = 1\n\n[scheduler]\n", true);
    await page.type("ki");
    const labels = `[...document.querySelectorAll(".cm-completionLabel")].map((label) => label.textContent)`;
    await page.until(`${labels}.includes("kind")`, "the key is offered");
    await page.until(`document.querySelector(".cm-completionInfo")?.textContent.length > 5`, "and explained");
    await new Promise((later) => setTimeout(later, 150));
    await page.key("Enter");
    await page.until(`${text}.endsWith("kind = ")`, "it is taken");
    await page.type('"');
    await page.until(`${labels}.includes('"hfsc"')`, "the schedulers are offered");
    await page.type("hf");
    await page.until(`${labels}.length === 1`, "one is left");
    await new Promise((later) => setTimeout(later, 150));
    await page.key("Enter");
    await page.until(`${text}.endsWith('kind = "hfsc"')`, "it is taken");
  });
}

async function followed() {
  return opened(async (page) => {
    const plan = await page.value(text);
    const times = [];
    for (let round = 0; round < 10; round += 1) {
      const title = `Round ${round}`;
      await page.value(`globalThis.begun = performance.now()`);
      await write(page, plan.replace(/^title = .*$/m, `title = "${title}"`));
      const shown = `${report}?.contentDocument?.querySelector("h1")?.textContent === "${title}"`;
      times.push(await page.until(`${shown} && performance.now() - begun`, "the proof follows"));
    }
    times.sort((one, other) => one - other);
    assert.ok(times[5] <= AFTER_TYPING, `${times} ms`);
    return `half of all within ${Math.round(times[5])} ms of the last key`;
  });
}

async function ran() {
  return opened(async (page) => {
    await page.value(`document.querySelector(".cm-content").focus()`);
    await page.key("Enter", CONTROL);
    await page.until(`${status} === "Promises kept"`, "the run is over");
    const page_ = await page.value(`${report}.srcdoc`);
    assert.ok(page_.includes("Promised and measured"));
    assert.ok((page_.match(/<figure/g) ?? []).length >= 4, "the figures are there");
    assert.equal(await page.value(`${report}.getAttribute("sandbox")`), "allow-scripts");
    await picture(page, "run");
  });
}

async function compared() {
  return opened(async (page) => {
    await page.until(`document.querySelectorAll("#schedulers input").length > 5`, "the schedulers are there");
    await page.value(`document.querySelector("#tab-compare").click()`);
    await page.value(`document.querySelector("#duration").value = "2s"`);
    await page.value(`document.querySelector("#start").click()`);
    await page.until(`${report}?.srcdoc.includes("Promises")`, "the comparison is over");
    const compared_ = await page.value(`${report}.srcdoc`);
    for (const scheduler of ["fifo", "wfq", "edf"]) assert.ok(compared_.includes(scheduler), scheduler);
    await picture(page, "compare");
  });
}

async function cancelled() {
  return opened(async (page) => {
    await page.value(`document.querySelector("#tab-run").click()`);
    await page.value(`document.querySelector("#duration").value = "100000s"`);
    await page.value(`document.querySelector("#start").click()`);
    await page.until(`document.querySelector("#progress").value > 0 && document.querySelector("#progress").hasAttribute("value")`, "it goes on");
    await page.value(`document.querySelector("#cancel").click()`);
    await page.until(`!document.querySelector("#start").disabled`, "it is given up", 2000);
    await page.value(`document.querySelector("#duration").value = "1s"`);
    await page.value(`document.querySelector("#start").click()`);
    await page.until(`${status} === "Promises kept"`, "the next run is over");
  });
}

async function outdated() {
  return opened(async (page) => {
    await page.value(`document.querySelector("#tab-run").click()`);
    await page.value(`document.querySelector("#duration").value = "200s"`);
    await page.value(`document.querySelector("#start").click()`);
    await page.until(`document.querySelector("#progress").value > 0`, "it goes on");
    await write(page, (await page.value(text)).replace(/^title = .*$/m, 'title = "Another"'));
    await page.until(`!document.querySelector("#start").disabled`, "the run is over", 60_000);
    assert.equal(await page.value(status), "The plan has changed since");
  });
}

async function linked() {
  const [link, plan, first] = await opened(async (page) => {
    const written_ = (await page.value(text)).replace(/^title = .*$/m, 'title = "A link – ünïcode"');
    await write(page, written_);
    await page.value(`document.querySelector("#tab-run").click()`);
    await page.value(`{ const seed = document.querySelector("#seed"); seed.value = "18446744073709551615"; }`);
    await page.value(`document.querySelector("#duration").value = "3s"`);
    await page.value(`document.querySelector("#start").click()`);
    await page.until(`${status} === "Promises kept"`, "the run is over");
    await page.value(`document.querySelector("#share").click()`);
    await page.until(`location.hash.length > 100`, "there is a link");
    await new Promise((later) => setTimeout(later, 300));
    return [await page.value(`location.hash`), written_, await page.value(`${report}.srcdoc`)];
  });
  return opened(
    async (page) => {
      await page.until(`${status} === "Promises kept"`, "the link's run is over");
      assert.equal(await page.value(text), plan);
      assert.equal(await page.value(`document.querySelector("#seed").value`), "18446744073709551615");
      assert.equal(await page.value(`${report}.srcdoc`), first);
      return `${link.length} letters`;
    },
    { fragment: link },
  );
}

async function everyPlan() {
  return opened(async (page) => {
    const paths = await page.value(`[...document.querySelectorAll("#plans option")].map(({ value }) => value).filter(Boolean)`);
    assert.ok(paths.length > 15, `${paths.length} plans`);
    for (const path of paths) {
      const before = await page.value(text);
      await page.value(`{ const menu = document.querySelector("#plans"); menu.value = "${path}"; menu.dispatchEvent(new Event("change")); }`);
      await page.until(`${text} !== ${JSON.stringify(before)} || ${before === "" || path.endsWith("low-delay-best-effort/plan.toml")}`, path);
      const title = JSON.stringify((/^title = "(.*)"$/m.exec(await page.value(text)) ?? [])[1] ?? "");
      await page.until(`${report}?.contentDocument?.querySelector("h1")?.textContent === ${title}`, `${path} is proved`);
      assert.notEqual(await page.value(status), "No answer", path);
    }
    return `${paths.length} plans`;
  });
}

async function captured() {
  return opened(async (page) => {
    const path = "examples/home-uplink.toml";
    await page.value(`{ const menu = document.querySelector("#plans"); menu.value = "${path}"; menu.dispatchEvent(new Event("change")); }`);
    await page.until(`document.querySelector("#files").textContent.includes("home-uplink.pcap")`, "the capture is there");
    await page.value(`document.querySelector("#tab-run").click()`);
    await page.value(`document.querySelector("#start").click()`);
    await page.until(`${report}?.srcdoc.includes("All classes")`, "the capture is simulated");
  });
}

async function dropped() {
  return opened(async (page) => {
    const rows = ["time_ns,class,length", "0,voice,100", "1000000,voice,100"].join("\n");
    await page.value(`{
      const carried = new DataTransfer();
      carried.items.add(new File([${JSON.stringify(rows)}], "trace.csv"));
      globalThis.plan = ${text};
      const drop = new DragEvent("drop", { dataTransfer: carried, cancelable: true, bubbles: true });
      document.querySelector(".cm-content").dispatchEvent(drop);
    }`);
    await page.until(`document.querySelector("#files").textContent.includes("trace.csv")`, "the file is listed");
    assert.ok(await page.value(`${text} === plan`), "the plan stays as it is");
    await page.value(`document.querySelector("#tab-run").click()`);
    await page.value(`document.querySelector("#arrivals").value = "trace.csv"`);
    await page.value(`document.querySelector("#start").click()`);
    await page.until(`["Promises kept", "No answer"].includes(${status})`, "the run is over");
    assert.equal(await page.value(`document.querySelector("#message").textContent`), "");
    assert.match(await page.value(`${report}.srcdoc`), /voice/);
  });
}

async function packets() {
  return opened(async (page) => {
    await page.value(`{
      globalThis.given = [];
      const made = URL.createObjectURL;
      URL.createObjectURL = (blob) => (given.push(blob), made(blob));
      HTMLAnchorElement.prototype.click = () => undefined;
    }`);
    await page.value(`document.querySelector("#tab-run").click()`);
    await page.value(`document.querySelector("#duration").value = "1s"`);
    await page.value(`document.querySelector("#start").click()`);
    await page.until(`${status} === "Promises kept"`, "the run is over");
    const press = (name) => page.value(`[...document.querySelectorAll("#downloads button")].find(({ textContent }) => textContent === "${name}").click()`);
    const file = (type) => `given.find((blob) => blob.type === "${type}")`;
    await press("Packets, CSV");
    await page.until(file("text/csv"), "the rows are given");
    assert.match(await page.value(`${file("text/csv")}.slice(0, 100).text()`), /^seq,class,flow,length,arrival_ns/);
    await press("Packets, Parquet");
    await page.until(file("application/vnd.apache.parquet"), "the table is given");
    assert.equal(await page.value(`${file("application/vnd.apache.parquet")}.slice(0, 4).text()`), "PAR1");
  });
}

async function huge() {
  return opened(async (page) => {
    await page.value(`globalThis.longest = 0; globalThis.last = performance.now(); setInterval(() => { const now = performance.now(); longest = Math.max(longest, now - last); last = now; }, 10)`);
    await page.value(`{
      const { view } = document.querySelector(".cm-content").cmTile.root;
      const classes = Array.from({ length: 1000000 }, (_, at) => "class." + at.toString(36) + "={}\\n").join("");
      const insert = 'version = 1\\nlink = { rate = "10mbit" }\\nscheduler = { kind = "edf" }\\n' + classes;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert } });
    }`);
    await page.until(`document.querySelector("#message").textContent.includes("Use the command")`, "there is a sentence");
    await page.value(`document.querySelector("#tab-run").click()`);
    await page.value(`document.querySelector("#start").click()`);
    await page.until(`["Promises kept", "No answer"].includes(${status})`, "the run ends", 120_000);
    const message = await page.value(`document.querySelector("#message").textContent`);
    assert.match(message, /memory|\[\[source\]\]/);
    await write(page, 'version = 1\nlink = { rate = "10mbit" }\nscheduler = { kind = "fifo" }\nclass.a = {}\n');
    await page.value(`document.querySelector("#tab-check").click()`);
    await page.until(`${status} === "Not decided" || ${status} === "Admitted"`, "the page goes on");
    return `the page stood still for ${Math.round(await page.value("longest"))} ms at most; ${message.slice(0, 80)}`;
  });
}

async function tooMuch() {
  return opened(async (page) => {
    const plan = await page.value(text);
    const held = plan.replace('title = "', 'title = "Memory: ').replace(/duration = "[^"]*"/, 'duration = "100000s"');
    await write(page, held);
    await page.value(`{
      const carried = new DataTransfer();
      carried.items.add(new File([new Uint8Array(250 << 20)], "large.csv"));
      carried.items.add(new File([new Uint8Array(250 << 20)], "larger.csv"));
      dispatchEvent(new DragEvent("drop", { dataTransfer: carried, cancelable: true }));
    }`);
    await page.until(`document.querySelectorAll("#files li").length === 2`, "the files are listed");
    await write(page, held + "# large.csv larger.csv\n");
    await page.until(`document.querySelector("#message").textContent.includes("memory")`, "there is a sentence");
    await write(page, plan);
    await page.until(`${status} === "Admitted"`, "the page goes on");
  });
}

async function reached() {
  return opened(async (page) => {
    await page.until(`document.querySelectorAll("#schedulers input").length > 5`, "the form is there");
    await page.value(`document.querySelector("#tab-compare").click()`);
    const { nodes } = await page.call("Accessibility.getFullAXTree");
    const asked = ["button", "textbox", "combobox", "checkbox", "tab", "progressbar", "Iframe"];
    const named = nodes.filter(({ role, ignored }) => !ignored && asked.includes(role?.value));
    assert.ok(named.length > 15, `${named.length} controls`);
    for (const { role, name } of named) assert.ok(name?.value, `a ${role.value} has no name`);
    await page.value(`document.activeElement.blur()`);
    const met = new Set();
    for (let step = 0; step < 60; step += 1) {
      await page.key("Tab");
      met.add(await page.value(`document.activeElement.id || document.activeElement.className || document.activeElement.tagName`));
    }
    for (const id of ["plans", "share", "save", "file", "tab-compare", "seed", "duration", "start"]) {
      assert.ok(met.has(id), `#${id} is not reached: ${[...met]}`);
    }
    assert.ok([...met].some((name) => name.includes("cm-content")), "the editor is reached");
    await page.value(`document.querySelector("#tab-compare").focus()`);
    await page.key("ArrowRight");
    assert.equal(await page.value(`document.activeElement.id`), "tab-check");
  });
}

async function narrow() {
  for (const dark of [false, true]) {
    await opened(
      async (page) => {
        assert.ok(await page.value(`document.documentElement.scrollWidth <= innerWidth`), "it scrolls sideways");
        const paper = await page.value(`getComputedStyle(document.body).backgroundColor`);
        assert.equal(paper, dark ? "rgb(20, 23, 27)" : "rgb(255, 255, 255)");
        await picture(page, `phone-${dark ? "dark" : "light"}`);
        await page.value(`document.querySelector("#tab-compare").click()`);
        await page.value(`document.querySelector(".results").scrollIntoView()`);
        assert.ok(await page.value(`document.documentElement.scrollWidth <= innerWidth`), "it scrolls sideways");
        await picture(page, `phone-compare-${dark ? "dark" : "light"}`);
      },
      { width: 390, height: 844, dark },
    );
    await opened((page) => picture(page, `wide-${dark ? "dark" : "light"}`), { dark });
  }
}

async function picture(page, name) {
  if (!pictures) return;
  await new Promise((later) => setTimeout(later, 300));
  await mkdir(pictures, { recursive: true });
  await writeFile(join(pictures, `${name}.png`), await page.picture());
}
