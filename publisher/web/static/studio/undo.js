// The countdown of the undo window. Without it the bar says at what time the post goes out. When it
// ends, the page's lists and its day are fetched anew: they still say that the post is to come.

import { renew } from "./renew.js";

const LATER = 1500; // ms until the server has published what was due

export function bindUndo() {
  for (const bar of document.querySelectorAll(".undo-bar[data-seconds]")) {
    const words = bar.querySelector(".countdown");
    const end = performance.now() + Number(bar.dataset.seconds) * 1000;
    const tick = () => {
      const left = Math.ceil((end - performance.now()) / 1000);
      if (left > 0) {
        words.textContent = `${bar.dataset.kind === "page" ? "goes live" : "reaches readers"} in ${left}\u00a0s`;
        setTimeout(tick, 250);
      } else {
        const view = document.createElement("a");
        view.href = bar.dataset.view;
        view.textContent = `View ${bar.dataset.kind === "page" ? "page" : "post"}`;
        words.replaceChildren("is published. ", view);
        bar.querySelector(".row").hidden = true;
        bar.classList.add("over");
        setTimeout(renew, LATER);
      }
    };
    tick();
  }
}
