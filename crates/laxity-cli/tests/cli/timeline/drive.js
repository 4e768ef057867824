"use strict";
// Moves over the timeline of the page in the frame as a reader does, and writes down what it says.

const frame = document.querySelector("iframe");
// The page counts as loading, and is not looked at, until this document is closed.
const brake = document.body.appendChild(document.createElement("iframe"));
brake.contentDocument.open();

const sleep = (time) => new Promise((wake) => setTimeout(wake, time));

async function drive() {
  // The frame has an empty document first.
  while (!frame.contentDocument?.querySelector(".timeline")?.control) await sleep(20);
  const page = frame.contentDocument;
  const find = (selector) => page.querySelector(selector);
  const { control } = find(".timeline");
  const { view, data } = control;
  const canvas = find(".timeline canvas");
  while (!view.width) await sleep(20);
  const key = (key) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
  const says = () => find(".selected .sentence").textContent;
  const said = { opened: says(), classes: [], problems: [] };
  const check = (name, holds) => holds || said.problems.push(name);

  const select = find(".classes");
  for (const option of select.options) {
    select.value = option.value;
    select.dispatchEvent(new Event("change"));
    const rows = [...page.querySelectorAll(".selected tbody tr")];
    said.classes.push({
      class: option.text,
      sentence: says(),
      delay: Number(find(".selected").dataset.delay),
      causes: rows.map((row) => [...row.cells].slice(0, -2).map((cell) => cell.textContent)),
      times: rows.map((row) => Number(row.querySelector("[data-ns]").dataset.ns)),
    });
  }

  const before = says();
  key("n");
  check("n leads to another packet", says() !== before);
  key("p");
  check("p leads back", says() === before);
  key("Home");
  check("Home shows all", view.from === data.begin && view.to === data.end);
  key("+");
  const half = (data.end - data.begin) / 2;
  check("+ zooms in", Math.abs(view.to - view.from - half) < 2);
  const from = view.from;
  key("ArrowRight");
  check("the arrow moves", view.from > from);
  key("-");
  check("- zooms out", view.to - view.from > half);
  const place = canvas.getBoundingClientRect();
  const event = (name, x, y, more) => new (more ? WheelEvent : PointerEvent)(name, { clientX: place.left + x, clientY: place.top + y, pointerId: 1, cancelable: true, ...more });
  canvas.setPointerCapture = () => {};
  find(".slowest button").click();
  const slowest = says();
  const row = view.path[0];
  key("n");
  find(".slowest button").click();
  key("n");
  const x = (view.x(data.sent.start[row]) + view.x(data.sent.end[row])) / 2;
  for (const name of ["pointerdown", "pointerup"]) canvas.dispatchEvent(event(name, x, 46 + 40));
  if (x > 0 && x < view.width && !data.is_network) check("a click selects what is sent there", says() === slowest);
  const length = view.to - view.from;
  canvas.dispatchEvent(event("wheel", 100, 80, { deltaY: -100 }));
  check("the wheel zooms", view.to - view.from < length);
  const piece = find(".flame .row:nth-child(2) .piece");
  piece.focus();
  const readout = find(".flame").nextElementSibling.textContent;
  check("a piece of a flame chart says what it is", readout !== "" && readout === piece.title);
  piece.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowUp", bubbles: true, cancelable: true }));
  check("arrows lead through a flame chart", page.activeElement === find(".flame .piece"));

  key("Home");
  said.frames = [1, 4, 20, 100, 500].map((zoom) => {
    view.show(data.begin, data.begin + (data.end - data.begin) / zoom);
    const times = [];
    for (let at = 0; at < 15; at++) {
      view.pan(0.01);
      const start = performance.now();
      view.draw();
      // What was drawn is waited for.
      view.context.getImageData(0, 0, 1, 1);
      times.push(performance.now() - start);
    }
    return times.sort((a, b) => a - b)[7];
  });
  said.packets = data.sent.rows;
  return said;
}

drive().then((said) => said, (error) => ({ error: `${error}\n${error.stack}` })).then((said) => {
  document.querySelector("pre").textContent = JSON.stringify(said);
  brake.contentDocument.close();
});
