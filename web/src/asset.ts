// Files that are loaded when they are needed: over HTTP as they are, and from a folder, whose pages
// may not read files, as scripts that hold them.

declare global {
  var laxityAssets: Record<string, string> | undefined;
}

/** The bytes of a file that build.mjs put beside the page, as they lie there. */
export async function asset(name: string): Promise<ArrayBuffer> {
  if (location.protocol === "file:") return fromScript(name);
  const response = await fetch(name);
  if (!response.ok) throw new Error(`${name} could not be loaded: ${response.status}`);
  return response.arrayBuffer();
}

async function fromScript(name: string): Promise<ArrayBuffer> {
  await new Promise((loaded, failed) => {
    const script = document.createElement("script");
    script.src = `${name}.js`;
    script.onload = loaded;
    script.onerror = () => failed(new Error(`${name}.js could not be loaded`));
    document.head.append(script);
  });
  const text = globalThis.laxityAssets?.[name];
  if (text === undefined) throw new Error(`${name}.js holds nothing`);
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
}
