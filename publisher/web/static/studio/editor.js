// The editor: autosave, recovery, preview, keys and pictures around a plain form.

import { Autosave, recover } from "./autosave.js";
import { bindKeys, composing, letterOf } from "./keys.js";
import { bindPicture, bindSound } from "./picture_field.js";
import { Pictures } from "./pictures.js";
import { Preview } from "./preview.js";
import { submitCalmly } from "./form.js";
import { bindPublish } from "./publish.js";
import { renew } from "./renew.js";
import { Recovery, forgetDone } from "./recovery.js";
import { bindTags } from "./tags.js";
import { bindTools } from "./tools.js";
import { bindUndo } from "./undo.js";

const form = document.getElementById("editor");
const area = form.elements.source;
const pane = document.getElementById("preview");
const toggle = form.querySelector("[data-toggle-preview]");
const state = form.querySelector("[data-state]");
const banner = document.querySelector("[data-banner]");
const wide = matchMedia("(min-width: 70rem)");

forgetDone(form.dataset.author);
bindUndo();
bindKeys(area);
bindTags(form.elements.tags);

const recovery = new Recovery(form);
await recovery.claim();
const address = () => `/studio/autosave/${form.dataset.post}`;
const autosave = new Autosave(form, address, state, recovery, moveTo);
const preview = new Preview(form, pane.querySelector("iframe"), () => follow());

// The form is that of a saved post, or of its next version.
function moveTo(told) {
  const place = told.address.split("?")[0];
  form.elements.base_version.value = told.version;
  form.setAttribute("action", place);
  recovery.moveTo(told.id, told.version);
  history.replaceState(history.state, "", place);
}

// After a save the page stays: what the server says comes into it, the text is left alone. Another
// page comes where the post's state changes, and where this one says why a save was refused.
const stays = (button) =>
  button.value === form.querySelector("[name=place]").value && !("refused" in form.dataset);

async function stay(told, sent) {
  if (told.status !== form.dataset.status) return location.assign(told.address);
  recovery.seen = "";
  moveTo(told);
  form.querySelector(".menu")?.removeAttribute("open");
  if (sent.get("minor")) form.elements.minor.checked = false;
  autosave.goOn(told.says || "Saved.");
  // Not if more was saved meanwhile, or unsaved text is there that this page does not show.
  const fits = (page) => {
    const { base_version, seen } = page.getElementById("editor")?.elements ?? {};
    return base_version?.value === form.elements.base_version.value && !seen.value;
  };
  const page = await renew(told.address, "[data-renew], [data-after-save]", fits);
  if (!page) return;
  document.title = page.title;
  document.querySelector(".flash")?.remove();
  banner.replaceChildren();
  banner.hidden = true;
  bindUndo();
  for (const { name, value } of page.getElementById("editor").elements) { // tidied by the server
    const field = form.elements[name];
    if (![area, document.activeElement].includes(field) && recovery.names.includes(name) &&
      field.value === sent.get(name) && field.value !== value) field.value = value;
  }
}

// The preview: beside the text if there is room, else in place of it.
function showPreview(shown) {
  pane.hidden = !shown;
  form.classList.toggle("previewing", shown);
  toggle.setAttribute("aria-expanded", String(shown));
  toggle.textContent = shown && !wide.matches ? "Back to the text" : shown ? "Hide preview" : "Preview";
  if (shown) preview.run();
}
function turn() {
  showPreview(pane.hidden);
  if (pane.hidden) area.focus();
  else if (!wide.matches) toggle.focus(); // the text is hidden now
}
toggle.hidden = false;
toggle.onclick = turn;
wide.addEventListener("change", () => matchMedia("print").matches || showPreview(wide.matches)); // paper is narrow
if (wide.matches) showPreview(true);
if (document.activeElement === area) area.setSelectionRange(area.value.length, area.value.length);

// The text reaches from what is above it to the bar, whatever that is; the preview beside it to both ends.
const bar = form.querySelector(".decide"), act = form.querySelector(".act"), write = form.querySelector(".write");
function fit() {
  const free = innerHeight - (bar.offsetHeight || act.offsetHeight);
  const below = write.getBoundingClientRect().bottom - area.getBoundingClientRect().bottom;
  const room = free - area.getBoundingClientRect().top - scrollY - below - 16;
  if (area.offsetParent) area.style.height = `${Math.max(112, Math.round(room))}px`;
}
new ResizeObserver(() => requestAnimationFrame(fit)).observe(document.body);
addEventListener("resize", fit);

const help = document.getElementById("markdown-help");
form.querySelector("[data-help]").onclick = (event) => {
  event.preventDefault();
  help.showModal();
};

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

const askForSound = bindSound(form.querySelector("[data-sound]"));
bindPicture(form.querySelector("[data-picture-field]"), (file) => {
  const { image_alt: words } = form.elements;
  if (file?.alt && !words.value) words.value = file.alt;
  if (!file) words.value = "";
});
const changed = () => {
  autosave.changed();
  preview.changed();
  countSoon();
};
recover(recovery, banner, changed);
bindTools(form, new Pictures(form, area, (words, wrong) => autosave.tell(words, wrong)), () => {
  form.querySelector("details.more").open = true;
  return askForSound();
});
form.addEventListener("input", (event) => {
  if (["minor", "file", "alt"].includes(event.target.name)) return;
  changed();
});

form.elements.title.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.ctrlKey || event.metaKey || composing(event)) return;
  event.preventDefault();
  area.focus();
});

bindPublish(form);
document.addEventListener("keydown", (event) => {
  if (letterOf(event) !== "e" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
  event.preventDefault();
  turn();
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  // Enter in a field, as after a tag: readers get what somebody sends with a button or a key for it.
  if (form.dataset.status === "published" && event.submitter.tagName === "INPUT") return autosave.tell("Update sends this to readers.", true);
  submitCalmly(form, event.submitter, autosave, stays(event.submitter) ? stay : undefined);
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
