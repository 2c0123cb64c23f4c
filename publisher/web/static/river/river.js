// Keys for the river: j next, k previous, o open here, v visit, m mark as read, s star; a switch on
// the page turns them off, for people who dictate. The page also works without this script.
"use strict";

(() => {
  // On a small screen the list of feeds is folded above the items.
  const fold = document.querySelector("[data-fold]");
  if (fold && matchMedia("(max-width: 62rem)").matches) fold.open = false;
  const list = document.querySelector("[data-river]");
  if (!list) return;
  const entries = [...list.querySelectorAll(".entry")];
  let chosen = -1;

  const choose = (index) => {
    if (chosen >= 0) entries[chosen].classList.remove("chosen");
    chosen = index;
    entries[chosen].classList.add("chosen");
  };

  const walk = (index) => {
    const entry = entries[index];
    if (!entry) return;
    choose(index);
    entry.focus({ preventScroll: true });
    entry.scrollIntoView({ block: "nearest" });
  };

  // Send a form of an entry without leaving the page; if that fails, submit it normally.
  const send = async (form) => {
    try {
      const answer = await fetch(form.action, {
        method: "POST",
        body: new FormData(form),
        headers: { Accept: "application/json" },
      });
      if (!answer.ok) throw new Error(String(answer.status));
      return true;
    } catch {
      form.submit();
      return false;
    }
  };

  const mark = async (entry, read) => {
    const form = entry.querySelector("form.mark");
    if (form.elements.read.value !== (read ? "1" : "0") || !(await send(form))) return;
    entry.classList.toggle("read", read);
    form.elements.read.value = read ? "0" : "1";
    form.querySelector("button").textContent = read ? "Mark as unread" : "Mark as read";
  };

  const star = async (entry) => {
    const form = entry.querySelector("form.star");
    const starred = form.elements.starred.value === "1";
    if (!(await send(form))) return;
    form.elements.starred.value = starred ? "0" : "1";
    form.querySelector("button").textContent = starred ? "★ Starred" : "☆ Star";
  };

  for (const entry of entries) {
    const body = entry.querySelector("details");
    if (body) body.addEventListener("toggle", () => { if (body.open) mark(entry, true); });
    entry.querySelector("form.mark").addEventListener("submit", (event) => {
      event.preventDefault();
      mark(entry, !entry.classList.contains("read"));
    });
    entry.querySelector("form.star").addEventListener("submit", (event) => {
      event.preventDefault();
      star(entry);
    });
    entry.addEventListener("focusin", () => choose(entries.indexOf(entry)));
  }

  const acts = {
    j: () => walk(chosen + 1),
    k: () => walk(chosen - 1),
    o: (entry) => { const body = entry && entry.querySelector("details"); if (body) body.open = !body.open; },
    v: (entry) => {
      const link = entry && entry.querySelector("a[data-visit]");
      if (!link) return;
      mark(entry, true);
      window.open(link.href, "_blank", "noopener,noreferrer");
    },
    m: (entry) => { if (entry) mark(entry, !entry.classList.contains("read")); },
    s: (entry) => { if (entry) star(entry); },
    "/": () => document.querySelector("#f-q").focus(),
  };

  const keys = document.querySelector("[data-keys]");
  keys.checked = localStorage.getItem("river-keys") !== "off";
  keys.closest("label").hidden = false;
  keys.addEventListener("change", () => localStorage.setItem("river-keys", keys.checked ? "on" : "off"));
  document.addEventListener("keydown", (event) => {
    if (!keys.checked || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select")) return;
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act(entries[chosen]);
  });
})();
