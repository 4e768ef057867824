// Where in a TOML text one is: in which table, and whether at a key or a value. The text may be
// unfinished, as it is while it is written.

/** A place in a text. */
export interface Spot {
  kind: "header" | "key" | "value";
  /** The keys that lead to it; of a value with its own key. */
  path: string[];
  /** Where the word begins that ends at the place. */
  from: number;
}

/** What is at the end of this text; `undefined` in a comment or where nothing may be said. */
export function spot(text: string): Spot | undefined {
  return new Scanner(text).spot();
}

const BLANK = /[ \t]*/y;
const SPACE = /(?:[ \t\r\n]|#[^\n]*(?:\n|$))*/y;
const BARE_KEY = /[A-Za-z0-9_-]*/y;
const BASIC = /"(?:[^"\\\n]|\\.)*"?/y;
const LITERAL = /'[^'\n]*'?/y;
const LONG = /("""|''')[^]*?(?:\1|$)/y;
const WORD = /[^\s,\]}#]*/y;

/** Thrown where the text ends: the spot that it ends at. */
class Ended {
  constructor(readonly spot: Spot | undefined) {}
}

class Scanner {
  private at = 0;

  constructor(private readonly text: string) {}

  spot(): Spot | undefined {
    try {
      let table: string[] = [];
      for (;;) {
        this.space(SPACE);
        if (this.at >= this.text.length) return { kind: "key", path: table, from: this.at };
        if (this.text[this.at] === "[") table = this.header();
        else this.pair(table);
      }
    } catch (ended) {
      if (ended instanceof Ended) return ended.spot;
      throw ended;
    }
  }

  private header(): string[] {
    this.take(/\[{1,2}/y);
    const path = this.keys("header", []);
    this.take(/[^\n]*/y);
    return path;
  }

  private pair(table: string[]): void {
    const path = this.keys("key", table);
    if (this.text[this.at] !== "=") {
      this.take(/[^\n,}]*[\n,}]?/y);
      return;
    }
    this.at += 1;
    this.value(path);
  }

  /** A dotted key. */
  private keys(kind: "header" | "key", before: string[]): string[] {
    const path = [...before];
    for (;;) {
      this.space(BLANK);
      const from = this.at;
      const key = this.take(/["']/y, false) ? this.string() : this.take(BARE_KEY);
      if (this.at >= this.text.length) throw new Ended({ kind, path, from });
      path.push(key);
      this.space(BLANK);
      if (this.text[this.at] !== ".") return path;
      this.at += 1;
    }
  }

  private value(path: string[]): void {
    this.space(BLANK);
    const from = this.at;
    const first = this.text[this.at];
    if (first === "{") this.table(path);
    else if (first === "[") this.array(path);
    else if (first === '"' || first === "'") {
      this.string();
      if (this.at >= this.text.length && !this.isClosed(from)) throw new Ended({ kind: "value", path, from });
    } else {
      this.take(WORD);
      if (this.at >= this.text.length) throw new Ended({ kind: "value", path, from });
    }
  }

  private table(path: string[]): void {
    this.at += 1;
    for (;;) {
      this.space(SPACE);
      if (this.at >= this.text.length) throw new Ended({ kind: "key", path, from: this.at });
      if (this.take(/\}/y)) return;
      if (this.take(/,/y)) continue;
      const before = this.at;
      this.pair(path);
      if (this.at === before) this.at += 1;
    }
  }

  private array(path: string[]): void {
    this.at += 1;
    for (;;) {
      this.space(SPACE);
      if (this.at >= this.text.length) throw new Ended({ kind: "value", path, from: this.at });
      if (this.take(/\]/y)) return;
      if (this.take(/,/y)) continue;
      const before = this.at;
      this.value(path);
      if (this.at === before) this.at += 1;
    }
  }

  private string(): string {
    const text = this.take(LONG) || this.take(BASIC) || this.take(LITERAL);
    return text.replace(/^["']+|["']+$/g, "");
  }

  private isClosed(from: number): boolean {
    return this.at - from > 1 && this.text[this.at - 1] === this.text[from];
  }

  private space(kind: RegExp): void {
    const skipped = this.take(kind);
    const isComment = /#[^\n]*$/.test(skipped);
    if (isComment && this.at >= this.text.length) throw new Ended(undefined);
  }

  /** What matches here; the place moves behind it. */
  private take(pattern: RegExp, moves = true): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? "";
    if (moves) this.at += found.length;
    return found;
  }
}
