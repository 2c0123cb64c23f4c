// The editor: autosave, recovery, preview, keys and pictures around a plain form.

import { Autosave, recover } from "./autosave.js";
import { bindKeys } from "./keys.js";
import { Pictures } from "./pictures.js";
import { Preview } from "./preview.js";
import { submitCalmly } from "./form.js";
import { bindPublish } from "./publish.js";
import { watchReach } from "./reach.js";
import { Recovery, forgetDone, keepCaret, restoreCaret } from "./recovery.js";
import { bindTags } from "./tags.js";
import { bindUndo } from "./undo.js";

const form = document.getElementById("editor");
const area = form.elements.source;
const pane = document.getElementById("preview");
const toggle = form.querySelector("[data-toggle-preview]");
const state = form.querySelector("[data-state]");
const wide = matchMedia("(min-width: 70rem)");

forgetDone(form.dataset.author);
bindUndo();
watchReach();
bindKeys(area);
bindTags(form.elements.tags);

const recovery = new Recovery(form);
await recovery.claim();
const address = () => `/studio/autosave/${form.dataset.post}`;
const autosave = new Autosave(form, address, state, recovery, (told) => {
  form.elements.base_version.value = told.version;
  form.action = told.address;
  recovery.moveTo(told.id, told.version);
  history.replaceState(history.state, "", told.address);
});
const preview = new Preview(form, pane, () => follow());
const pictures = new Pictures(form, area, (words, wrong) => autosave.tell(words, wrong));

// The preview: beside the text if there is room, else in place of it.
function showPreview(shown) {
  pane.hidden = !shown;
  form.classList.toggle("previewing", shown);
  toggle.setAttribute("aria-expanded", String(shown));
  toggle.textContent = shown && !wide.matches ? "Back to the text" : shown ? "Hide preview" : "Preview";
  if (shown) preview.run();
  else area.focus();
}
toggle.hidden = false;
toggle.onclick = () => showPreview(pane.hidden);
wide.addEventListener("change", () => showPreview(wide.matches));
if (wide.matches) {
  const focused = document.activeElement;
  showPreview(true);
  focused?.focus?.();
}

const words = form.querySelector("[data-words]");
let counting = 0;
function countSoon() {
  counting ||= setTimeout(() => {
    counting = 0;
    const count = (area.value.match(/\S+/g) ?? []).length;
    words.textContent = `${count.toLocaleString()} ${count === 1 ? "word" : "words"}`;
  }, 400);
}
countSoon();

const changed = () => {
  autosave.changed();
  preview.changed();
  countSoon();
};
recover(recovery, document.querySelector("[data-banner]"), changed);
form.addEventListener("input", (event) => {
  if (["minor", "file", "alt"].includes(event.target.name)) return;
  changed();
});

bindPublish(form);
document.addEventListener("keydown", (event) => {
  if (event.key !== "e" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
  event.preventDefault();
  showPreview(pane.hidden);
});
form.addEventListener("submit", async (event) => {
  recovery.sending();
  autosave.stopped = true;
  if (event.submitter?.name !== "place") return;
  event.preventDefault();
  if (await submitCalmly(form, event.submitter, autosave)) addEventListener("pagehide", () => keepCaret(form));
});

// The preview scrolls with the text.
let followed = 0;
function follow() {
  cancelAnimationFrame(followed);
  followed = requestAnimationFrame(() => {
    if (wide.matches) preview.follow(area.selectionStart / Math.max(1, area.value.length));
  });
}
for (const name of ["keyup", "click", "input"]) area.addEventListener(name, follow);
restoreCaret(form);
export { autosave, pictures, preview, recovery };
