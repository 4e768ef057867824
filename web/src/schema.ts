// The JSON Schema of plans: what may stand at a place, and what it means.

export interface Node {
  $ref?: string;
  description?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  properties?: Record<string, Node>;
  additionalProperties?: boolean | Node;
  items?: Node;
  prefixItems?: Node[];
  anyOf?: Node[];
  oneOf?: Node[];
  required?: string[];
  $defs?: Record<string, Node>;
}

/** A word that may stand somewhere. */
export interface Word {
  text: string;
  about: string;
  /** Whether it holds more: a table, or tables by names. */
  holds: "nothing" | "keys" | "names" | "tables";
}

export class Schema {
  constructor(private readonly root: Node) {}

  /** The keys that a table may have. */
  keys(path: string[]): Word[] {
    const words = new Map<string, Word>();
    for (const node of this.at(path)) {
      for (const [text, key] of Object.entries(node.properties ?? {})) {
        words.set(text, { text, about: this.about(key), holds: this.holds(key) });
      }
    }
    return [...words.values()];
  }

  /** The words that a value may be. */
  values(path: string[]): Word[] {
    return this.at(path).flatMap((node) => this.options(node));
  }

  /** What a key means, if it is one. */
  meaning(path: string[]): string {
    const parents = this.at(path.slice(0, -1));
    const key = path.at(-1) ?? "";
    const about = parents.map((parent) => this.about(parent.properties?.[key] ?? {}));
    return about.find((text) => text !== "") ?? "";
  }

  /** The nodes that may stand at a path, without references. */
  private at(path: string[]): Node[] {
    let nodes = this.all(this.root);
    for (const key of path) {
      nodes = nodes.flatMap((node) => {
        const named = node.properties?.[key] ?? node.additionalProperties;
        return typeof named === "object" ? this.all(named) : [];
      });
    }
    return nodes;
  }

  /** A node, what it may be instead, and what it is a list of. */
  private all(node: Node): Node[] {
    const own = this.resolved(node);
    const options = [...(own.anyOf ?? []), ...(own.oneOf ?? [])];
    const items = own.items ? [own.items] : [];
    return [own, ...[...options, ...items].flatMap((other) => this.all(other))];
  }

  private resolved(node: Node): Node {
    const name = node.$ref?.match(/^#\/\$defs\/(.*)$/)?.[1];
    return name === undefined ? node : this.resolved(this.root.$defs?.[name] ?? {});
  }

  private about(node: Node): string {
    return node.description ?? this.resolved(node).description ?? "";
  }

  private options(node: Node): Word[] {
    const word = (text: unknown, about = ""): Word => ({ text: JSON.stringify(text), about, holds: "nothing" });
    if (node.const !== undefined) return [word(node.const, node.description)];
    if (node.enum) return node.enum.map((text) => word(text));
    return node.type === "boolean" ? [word(true), word(false)] : [];
  }

  private holds(node: Node): Word["holds"] {
    const own = this.resolved(node);
    if (own.properties) return "keys";
    if (typeof own.additionalProperties === "object") return "names";
    return own.items && this.resolved(own.items).properties ? "tables" : "nothing";
  }
}
