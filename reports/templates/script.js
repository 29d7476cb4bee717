"use strict";
(() => {
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));

  // An anchor inside a closed <details> opens it, and is shown for a moment.
  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
    target.scrollIntoView();
    target.classList.add("reached");
    setTimeout(() => target.classList.remove("reached"), 1600);
  };
  addEventListener("hashchange", reveal);
  reveal();

  // Copy a command. Pages opened from a file may be refused the clipboard: then the text is selected instead.
  for (const button of all("button[data-copy]")) {
    const text = button.parentElement.querySelector("pre");
    button.addEventListener("click", async () => {
      let done = true;
      try {
        await navigator.clipboard.writeText(text.textContent);
      } catch {
        const range = document.createRange();
        range.selectNodeContents(text);
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        done = false;
      }
      button.textContent = done ? "Copied" : "Selected";
      setTimeout(() => { button.textContent = "Copy"; }, 1600);
    });
  }

  // Rows of the matrix by their worst verdict.
  const boxes = all("input[data-filter]");
  const rows = all("table.matrix tbody tr");
  const filter = () => {
    const shown = new Set(boxes.filter((box) => box.checked).map((box) => box.dataset.filter));
    let hidden = 0;
    for (const row of rows) {
      row.hidden = !shown.has(row.dataset.verdict);
      hidden += row.hidden;
    }
    document.getElementById("filter-note").textContent = hidden ? `${hidden} of ${rows.length} rows hidden` : "";
  };
  for (const box of boxes) {
    if (!rows.some((row) => row.dataset.verdict === box.dataset.filter)) box.closest("label").hidden = true;
    box.addEventListener("change", filter);
  }
  if (boxes.length) filter();

  // The same event in the picture and in the table.
  for (const failure of all("article.failure")) {
    const light = (on) => (event) => {
      const found = event.target.closest && event.target.closest("[data-seq]");
      if (found) for (const twin of all(`[data-seq="${found.dataset.seq}"]`, failure)) twin.classList.toggle("lit", on);
    };
    failure.addEventListener("mouseover", light(true));
    failure.addEventListener("mouseout", light(false));
  }
})();
