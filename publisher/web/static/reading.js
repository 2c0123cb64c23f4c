// One post: the left arrow leads to the older one, the right arrow to the newer one; the other way
// round where words run from right to left, as the links stand there.
"use strict";

const hint = document.querySelector(".keys");
if (hint && matchMedia("(hover: hover)").matches) hint.hidden = false;

addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.defaultPrevented) return;
  // Not where arrow keys have a meaning already: fields, players, listings that scroll.
  if (event.target.closest("input, textarea, select, audio, video, [contenteditable], [tabindex='0']")) return;
  const back = document.dir === "rtl" ? "ArrowRight" : "ArrowLeft";
  const relation = { ArrowLeft: "next", ArrowRight: "next", [back]: "prev" }[event.key];
  const link = relation && document.querySelector(`.neighbours a[rel~="${relation}"]`);
  if (link) link.click();
});
