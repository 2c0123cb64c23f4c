// The Publish button's menu and keys, of the box and the editor: Ctrl+Enter publishes, Ctrl+S saves.

import { letterOf } from "./keys.js";

export function bindPublish(form, ready = () => true) {
  const save = form.querySelector("[data-save]");
  const publish = form.querySelector("[data-publish]") ?? save;
  const menu = form.querySelector(".menu");
  const schedule = form.querySelector("[data-schedule]");
  const { at } = form.elements;

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && menu?.open) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
    if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
    const button = { s: save, Enter: publish }[letterOf(event)];
    if (!button) return;
    event.preventDefault();
    // A held key would act on the next page too, on what that one shows.
    if (ready() && !event.repeat) form.requestSubmit(button);
  });
  document.addEventListener("click", (event) => {
    if (menu?.open && !menu.contains(event.target)) menu.open = false;
  });
  menu?.addEventListener("toggle", () => menu.open && menu.lastElementChild.scrollIntoView({ block: "nearest" }));
  // Left by keyboard it would lie over what has the focus now.
  menu?.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !menu.contains(relatedTarget)) menu.open = false;
  });
  if (!schedule) return;
  // Both are civil times of the author's zone, written alike; the page's own is when it was opened.
  const name = () => {
    schedule.textContent = at.value && at.value <= form.dataset.now ? "Publish with this date" : "Schedule";
  };
  name();
  at.addEventListener("input", name);
  at.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    form.requestSubmit(schedule);
  });
}
