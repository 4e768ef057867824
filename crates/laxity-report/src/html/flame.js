// Says below a flame chart what a piece of it is, while it is pointed at or has the focus. Tab leads
// to each chart, and the arrow keys from piece to piece.
for (const flame of document.querySelectorAll(".flame")) {
  const readout = flame.nextElementSibling;
  const pieces = [...flame.querySelectorAll(".piece")];
  const say = (event) => {
    const piece = event.target.closest?.(".piece");
    readout.textContent = piece ? piece.getAttribute("aria-label") : "";
  };
  flame.addEventListener("pointerover", say);
  flame.addEventListener("focusin", say);
  flame.addEventListener("pointerleave", () => (readout.textContent = ""));
  flame.addEventListener("keydown", (event) => {
    const way = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const next = pieces[pieces.indexOf(event.target) + way];
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
}
