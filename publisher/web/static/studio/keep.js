// Forms of the settings: what is typed is kept in this browser until the server shows it as saved.

import { recover } from "./autosave.js";
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
}
