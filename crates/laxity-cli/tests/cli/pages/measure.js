"use strict";
// Text smaller than this cannot be read, and dots smaller than this cannot be seen.
const LEAST_TEXT = 9;
const LEAST_DOT = 4;
// WCAG 2.2, criterion 1.4.3.
const LEAST_CONTRAST = 4.5;

const problems = [];

function measure(frame) {
  const { contentWindow: view, contentDocument: page } = frame;
  const name = `${frame.getAttribute("src")} at ${frame.width}`;
  const told = new Map();
  // A few of a kind say enough.
  const tell = (kind, what) => {
    told.set(kind, (told.get(kind) || 0) + 1);
    if (told.get(kind) <= 3) problems.push(`${name}: ${kind}: ${what}`);
  };
  const width = Number(frame.width);
  if (view.innerWidth !== width) tell("window", view.innerWidth);
  const dark = view.matchMedia("(prefers-color-scheme: dark)").matches;
  if (dark !== (document.body.dataset.scheme === "dark")) tell("colours", "of the other scheme");
  // Scrollbars take from what is left for the page.
  const room = page.documentElement.clientWidth;
  if (page.documentElement.scrollWidth > room) tell("page scrolls", page.documentElement.scrollWidth);
  for (const box of page.querySelectorAll(".wide")) lookAtBox(box, room, width, view, tell);
  for (const table of page.querySelectorAll("table")) {
    if (!table.closest(".wide")) tell("table without a box", table.textContent.slice(0, 40));
  }
  lookAtText(page, room, view, tell);
  for (const drawing of page.querySelectorAll("figure svg[role=img]")) lookAtDrawing(drawing, view, tell);
}

// What is wider than the page scrolls in its box, with the names in place.
function lookAtBox(box, room, width, view, tell) {
  const place = box.getBoundingClientRect();
  if (place.width === 0) return;
  if (place.left < 0 || place.right > room + 0.5) tell("box beyond the page", place.right);
  if (box.scrollWidth <= box.clientWidth) return;
  const text = box.textContent.slice(0, 40);
  if (width > 1000) tell("scrolls on a page", `${box.scrollWidth} in ${box.clientWidth}: ${text}`);
  if (view.getComputedStyle(box).overflowX !== "auto") tell("cannot scroll", text);
  if (view.getComputedStyle(box).backgroundImage === "none") tell("no hint at more", text);
  const first = box.querySelector("tbody tr:not(.head) th");
  if (!first) return;
  box.scrollLeft = box.scrollWidth;
  const moved = first.getBoundingClientRect();
  if (Math.abs(moved.left - place.left) > 1) tell("names scroll away", text);
  if (moved.width > 0.6 * box.clientWidth) tell("names hide values", text);
  box.scrollLeft = 0;
}

function lookAtText(page, room, view, tell) {
  const walker = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    const text = walker.currentNode.data.trim();
    if (!text || parent.closest("title")) continue;
    const range = page.createRange();
    range.selectNodeContents(walker.currentNode);
    const place = range.getBoundingClientRect();
    if (place.width === 0) continue;
    if (!parent.closest(".wide") && place.right > room + 0.5) tell("text beyond the page", text);
    const style = view.getComputedStyle(parent);
    const scale = parent.getScreenCTM ? parent.getScreenCTM().a : 1;
    const size = parseFloat(style.fontSize) * scale;
    if (size < LEAST_TEXT) tell("small text", `${size.toFixed(1)} px: ${text}`);
    const contrast = contrastOf(parent, view);
    if (contrast < LEAST_CONTRAST) tell("faint text", `${contrast.toFixed(2)}: ${text}`);
  }
}

function lookAtDrawing(drawing, view, tell) {
  const edge = drawing.getBoundingClientRect();
  if (edge.width === 0) return;
  const texts = [...drawing.querySelectorAll("text")].map((text) => ({
    text: text.textContent,
    place: text.getBoundingClientRect(),
  }));
  texts.forEach(({ text, place }, at) => {
    if (place.left < edge.left - 1 || place.right > edge.right + 1 || place.bottom > edge.bottom + 1) {
      tell("text cut off", text);
    }
    for (const other of texts.slice(0, at)) {
      const across = Math.min(place.right, other.place.right) - Math.max(place.left, other.place.left);
      const down = Math.min(place.bottom, other.place.bottom) - Math.max(place.top, other.place.top);
      // Boxes of text have some room above and below the letters.
      if (across > 1 && down > 0.3 * place.height) tell("texts overlap", `${text} / ${other.text}`);
    }
  });
  for (const path of drawing.querySelectorAll(".series path[d$=h0]")) {
    const dots = !path.getAttribute("d").match(/[LHV]/);
    const size = parseFloat(view.getComputedStyle(path).strokeWidth) * path.getScreenCTM().a;
    const others = path.parentElement.querySelectorAll("path").length > 1;
    if (dots && !others && size < LEAST_DOT) tell("small dots", size.toFixed(1));
  }
}

// The contrast of an element's text with what is behind it (WCAG 2.2, contrast ratio).
function contrastOf(element, view) {
  const drawn = element instanceof view.SVGElement;
  const style = view.getComputedStyle(element);
  const text = channels(drawn ? style.fill : style.color);
  let alpha = (text[3] ?? 1) * (drawn ? parseFloat(style.fillOpacity) : 1);
  let paper = null;
  for (let at = element; at; at = at.parentElement) {
    const own = view.getComputedStyle(at);
    alpha *= parseFloat(own.opacity);
    const behind = channels(own.backgroundColor);
    if (!paper && (behind[3] ?? 1) === 1) paper = behind;
  }
  const mixed = [0, 1, 2].map((at) => alpha * text[at] + (1 - alpha) * paper[at]);
  const [a, b] = [light(mixed) + 0.05, light(paper) + 0.05];
  return Math.max(a, b) / Math.min(a, b);
}

function channels(colour) {
  return colour.match(/[\d.]+/g).map(Number);
}

function light(rgb) {
  const [r, g, b] = rgb.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

window.onload = () => {
  const frames = [...document.querySelectorAll("iframe")];
  for (const frame of frames) measure(frame);
  document.querySelector("pre").textContent = `${problems.map((line) => `${line}\n`).join("")}${frames.length} looked at\n`;
};
