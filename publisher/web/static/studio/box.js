// The first page of the studio: a box that keeps what is typed and publishes on Ctrl+Enter.

import { Autosave, recover } from "./autosave.js";
import { bindKeys } from "./keys.js";
import { submitCalmly } from "./form.js";
import { Pictures } from "./pictures.js";
import { bindPublish } from "./publish.js";
import { Recovery, forgetDone } from "./recovery.js";
import { bindTools } from "./tools.js";
import { bindUndo } from "./undo.js";

const form = document.getElementById("box");
const area = form.elements.source;
forgetDone(form.dataset.author);
bindUndo();
bindKeys(area);

const recovery = new Recovery(form);
await recovery.claim();
const autosave = new Autosave(form, () => "/studio/autosave/0", form.querySelector("[data-state]"), recovery);
const banner = document.createElement("div");
banner.className = "banner";
banner.hidden = true;
form.before(banner);
recover(recovery, banner, () => autosave.changed());

form.addEventListener("input", () => autosave.changed());
bindPublish(form, () => area.value.trim());
form.addEventListener("submit", (event) => {
  event.preventDefault();
  submitCalmly(form, event.submitter, autosave);
});
bindTools(form, new Pictures(form, area, (words, wrong) => autosave.tell(words, wrong)));
area.setSelectionRange(area.value.length, area.value.length);
