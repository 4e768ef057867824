// Chromium without a window, asked over a pipe by the DevTools protocol.

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** How long anything that is waited for may take, in ms. */
const PATIENCE = 30_000;

export class Chromium {
  #process;
  #folder;
  #calls = new Map();
  #listeners = new Map();
  #last = 0;
  #rest = "";

  static async start(program) {
    const browser = new Chromium();
    browser.#folder = await mkdtemp(join(tmpdir(), "laxity-page-"));
    browser.#process = spawn(
      program,
      [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--no-first-run",
        "--remote-debugging-pipe",
        `--user-data-dir=${browser.#folder}`,
        "about:blank",
      ],
      { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"], detached: true },
    );
    browser.#process.stdio[4].setEncoding("utf8").on("data", (piece) => browser.#hear(piece));
    await browser.call("Browser.getVersion");
    return browser;
  }

  /** Calls a method of the protocol. */
  call(method, params = {}, sessionId = undefined) {
    const id = ++this.#last;
    const answered = new Promise((settle, fail) => this.#calls.set(id, { settle, fail, method }));
    this.#process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return answered;
  }

  /** Hears of the events of a session. */
  listen(sessionId, heard) {
    this.#listeners.set(sessionId, heard);
  }

  async page(address, { width = 1400, height = 900, dark = false } = {}) {
    const { targetId } = await this.call("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.call("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    this.listen(sessionId, (event) => page.hear(event));
    await page.call("Page.enable");
    await page.call("Runtime.enable");
    await page.call("Log.enable");
    await page.call("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 600 });
    const scheme = { name: "prefers-color-scheme", value: dark ? "dark" : "light" };
    await page.call("Emulation.setEmulatedMedia", { features: [scheme] });
    await page.open(address);
    return page;
  }

  async close() {
    await this.call("Browser.close").catch(() => undefined);
    await new Promise((ended) => this.#process.once("exit", ended));
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #hear(piece) {
    const messages = (this.#rest + piece).split("\0");
    this.#rest = messages.pop();
    for (const message of messages.map((text) => JSON.parse(text))) {
      const call = this.#calls.get(message.id);
      this.#calls.delete(message.id);
      if (message.error) call?.fail(new Error(`${call.method}: ${message.error.message}`));
      else if (call) call.settle(message.result);
      else this.#listeners.get(message.sessionId)?.(message);
    }
  }
}

class Page {
  /** What the page wrote as an error, or threw. */
  errors = [];
  /** The addresses of everything that was asked for. */
  requests = [];

  constructor(browser, session, target) {
    Object.assign(this, { browser, session, target });
  }

  call(method, params) {
    return this.browser.call(method, params, this.session);
  }

  hear({ method, params }) {
    if (method === "Runtime.exceptionThrown") this.errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === "Log.entryAdded" && params.entry.level === "error") this.errors.push(params.entry.text);
    if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
  }

  async open(address) {
    await this.call("Network.enable");
    await this.call("Page.navigate", { url: address });
    await this.until("document.readyState === 'complete'", "the page is loaded");
  }

  /** The value of an expression in the page. */
  async value(expression) {
    const { result, exceptionDetails } = await this.call("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Waits until an expression is true, and gives its value. */
  async until(expression, what, patience = PATIENCE) {
    const begun = Date.now();
    for (;;) {
      const value = await this.value(expression).catch(() => undefined);
      if (value) return value;
      if (Date.now() - begun > patience) throw new Error(`in ${patience} ms it did not come to this: ${what}`);
      await new Promise((later) => setTimeout(later, 20));
    }
  }

  async key(key, modifiers = 0) {
    const known = KEYS[key] ?? { key, code: key.length === 1 ? `Key${key.toUpperCase()}` : key, text: key };
    const text = modifiers === 0 ? known.text : undefined;
    const { code, windowsVirtualKeyCode } = known;
    const down = { type: text ? "keyDown" : "rawKeyDown", key: known.key, code, windowsVirtualKeyCode, text, modifiers };
    await this.call("Input.dispatchKeyEvent", down);
    await this.call("Input.dispatchKeyEvent", { ...down, type: "keyUp", text: undefined });
  }

  /** Types letters where the focus is. */
  async type(text) {
    for (const letter of text) {
      if (letter === "\n") await this.key("Enter");
      else await this.call("Input.insertText", { text: letter });
    }
  }

  async picture() {
    const { data } = await this.call("Page.captureScreenshot", { format: "png" });
    return Buffer.from(data, "base64");
  }

  async close() {
    await this.browser.call("Target.closeTarget", { targetId: this.target });
  }
}

const KEYS = {
  Enter: { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13, text: "\r" },
  Tab: { key: "Tab", code: "Tab", windowsVirtualKeyCode: 9 },
  Escape: { key: "Escape", code: "Escape", windowsVirtualKeyCode: 27 },
  ArrowRight: { key: "ArrowRight", code: "ArrowRight", windowsVirtualKeyCode: 39 },
  ArrowDown: { key: "ArrowDown", code: "ArrowDown", windowsVirtualKeyCode: 40 },
  End: { key: "End", code: "End", windowsVirtualKeyCode: 35 },
  Space: { key: " ", code: "Space", windowsVirtualKeyCode: 32, text: " " },
};
export const CONTROL = 2;
