// Who has the post, and what the Publish buttons say, kept up to date while the page is open.
// One short request at a time, at a pace that the server sets; without it, a reload does the same.

import { renew } from "../studio/renew.js";

const MOST_ASKS = 240;

const form = document.querySelector("form[data-post]");
let timer = 0;
let asks = 0;

const ask = async () => {
  asks += 1;
  const post = form?.dataset.post ?? location.pathname.split("/")[3]; // the page of one post
  await renew(`/studio/reached?post=${{ box: "", new: "0" }[post] ?? post}`);
  next();
};
const next = () => {
  const again = Number(document.querySelector("[data-again]").dataset.again);
  clearTimeout(timer);
  if (!again || document.visibilityState === "hidden") return;
  if (asks < MOST_ASKS) timer = setTimeout(ask, again * 1000);
  // Left open for hours: what the buttons said is over.
  else for (const words of document.querySelectorAll("#by-now, #better")) words.replaceChildren();
};
document.addEventListener("visibilitychange", () => {
  clearTimeout(timer);
  if (document.visibilityState === "hidden") return;
  asks = 0;
  ask();
});
next();
