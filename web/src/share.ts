// The state of the page as the fragment of its address, which no server is sent.

export type View = "check" | "run" | "compare";

/** What a link reproduces. Files that were dropped are not part of it. */
export interface State {
  plan: string;
  seed: string;
  duration: string;
  schedulers: string[];
  view: View;
}

/** The largest state that a link is read to, in bytes: more was not made by this page. */
const LIMIT = 1 << 20;

/** The fragment of a state, without its `#`. */
export async function fragment(state: State): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const packed = await piped(bytes, new CompressionStream("deflate-raw"));
  return `1${base64url(packed)}`;
}

/** The state of a fragment; `undefined` if it is none. */
export async function state(fragment: string): Promise<State | undefined> {
  if (!fragment.startsWith("1")) return undefined;
  try {
    const packed = bytesOf(fragment.slice(1));
    const bytes = await piped(packed, new DecompressionStream("deflate-raw"));
    return checked(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return undefined;
  }
}

function checked(read: Partial<Record<keyof State, unknown>>): State | undefined {
  const { plan, seed, duration, schedulers, view } = read;
  const isText = (value: unknown): value is string => typeof value === "string";
  const isView = view === "check" || view === "run" || view === "compare";
  if (!isText(plan) || !isText(seed) || !isText(duration) || !isView) return undefined;
  if (!Array.isArray(schedulers) || !schedulers.every(isText)) return undefined;
  return { plan, seed, duration, schedulers, view };
}

async function piped(bytes: Uint8Array<ArrayBuffer>, through: GenericTransformStream): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(through) as ReadableStream<Uint8Array>;
  const pieces: Uint8Array[] = [];
  let length = 0;
  const reader = stream.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    length += read.value.length;
    if (length > LIMIT) throw new Error("a link that holds too much");
    pieces.push(read.value);
  }
  return new Uint8Array(await new Blob(pieces as BlobPart[]).arrayBuffer());
}

function base64url(bytes: Uint8Array): string {
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
}
