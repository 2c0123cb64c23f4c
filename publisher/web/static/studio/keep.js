// Forms of the settings: what is typed is kept in this browser until the server shows it as saved.

import { recover } from "./autosave.js";
import { send } from "./form.js";
import { Recovery } from "./recovery.js";

const { author, zone } = document.querySelector("main").dataset;
const saved = document.querySelector(".flash.done");
const refused = document.querySelector(".error-summary");

for (const form of document.querySelectorAll("form[data-keep]")) {
  const place = new URL(form.getAttribute("action") || location.pathname, location.origin).pathname;
  Object.assign(form.dataset, { author, zone, post: `form:${place}` });
  const recovery = new Recovery(form);
  await recovery.claim();
  if (saved) recovery.forgetSent();
  const banner = document.createElement("div");
  banner.className = "banner";
  banner.hidden = true;
  form.before(banner);
  recover(recovery, banner, () => recovery.keep());
  if (refused) recovery.keep();
  form.addEventListener("input", () => recovery.keepSoon());
  form.addEventListener("submit", () => {
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "kept_here" }));
    recovery.sending();
  });
  addEventListener("pagehide", () => recovery.timer && recovery.keep());
  if (form.querySelector("[data-saved]")) saveAlone(form, recovery);
}

// The description of a file is saved when typing pauses or the field is left; then the text to copy
// has it too.
function saveAlone(form, recovery) {
  const state = form.querySelector("[data-saved]"), field = form.elements.alt;
  let timer = 0;
  const save = async () => {
    clearTimeout(timer);
    const sent = field.value;
    if (sent === field.defaultValue) return;
    const answer = await send(form, form.getAttribute("action"), new FormData(form)).catch(() => undefined);
    const told = answer?.ok ? await answer.json() : undefined;
    state.textContent = told ? "Saved" : "Not saved; it is kept in this browser";
    if (!told) return;
    form.closest("li").querySelector("[readonly]").value = told.markdown;
    field.defaultValue = sent;
    recovery.version = JSON.stringify(recovery.defaults());
    if (field.value === sent) recovery.forget();
  };
  form.querySelector("button").hidden = true;
  form.addEventListener("change", save);
  form.addEventListener("input", () => {
    state.textContent = "";
    clearTimeout(timer);
    timer = setTimeout(save, 1500);
  });
}
