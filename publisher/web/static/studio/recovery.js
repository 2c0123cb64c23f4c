// Keeps a form's text in this browser on each keystroke, so that a crash, a closed tab, a lost
// connection or an expired login loses nothing. Text that the server has confirmed is deleted here.
//
// A tab has a name and holds a lock of that name while it is open. It has a slot in the browser's
// storage for each post: a slot whose tab has no lock was left by a closed one.

import { clock } from "./form.js";

const TAB = "publisher:tab"; // in the session of a tab: its name
const LEFT = "publisher:left"; // in the session of a tab: what a form had when its page was left
export const APART = "apart"; // in place of the stamp: older than what is unsaved now
export const newName = () => `${Date.now().toString(36)}${Math.random().toString(36).slice(2, 10)}`;
const lockOf = (name) => `publisher:${name}`;
const nameOf = (key) => key.slice(key.lastIndexOf("-") + 1);
const alike = (kept, shown) =>
  Object.keys(kept).every((name) => kept[name] === (shown[name] ?? ""));

const wasSent = ({ sent, values }) => Boolean(sent && alike(sent, values));

export class Recovery {
  constructor(form) {
    this.form = form;
    this.version = form.elements.base_version?.value ?? JSON.stringify(this.defaults());
    this.sent = null; // what was last sent to be autosaved; its answer may have been lost
    this.left = [];
    this.timer = 0;
    this.name = newName();
  }

  // The stamp of the unsaved text of the server that the form's text was typed on.
  get seen() {
    return this.form.elements.seen?.value ?? "";
  }

  set seen(stamp) {
    // Also of the button that discards what the editor shows.
    for (const input of document.querySelectorAll("input[name=seen]")) input.value = stamp;
  }

  // The name of the request that makes a post: kept with its text, so that trying again is safe.
  get attempt() {
    return this.form.elements.attempt?.value;
  }

  set attempt(name) {
    if (name && this.form.elements.attempt) this.form.elements.attempt.value = name;
  }

  get prefix() {
    return `publisher:${this.form.dataset.author}:${this.form.dataset.post}`;
  }

  get key() {
    return `${this.prefix}-${this.name}`;
  }

  // Find what closed tabs have left of the same post; of a new post the text of one closed tab, which
  // the next new post of that kind takes over.
  async claim() {
    try {
      const { post } = this.form.dataset;
      const held = await heldLocks();
      const tab = await tabName(held);
      // What the browser has restored or copied may be the name of a request that was answered.
      if (!("refused" in this.form.dataset)) this.attempt = newName();
      const kind = post === "new" ? this.form.elements.kind?.value : undefined;
      const left = leftBehind(this.prefix, kind).filter(({ key }) => !held.has(lockOf(nameOf(key))));
      const mine = left.filter(({ key }) => nameOf(key) === tab);
      this.left = mine.concat(left.filter((kept) => !mine.includes(kept)));
      if (!cameBy("navigate")) {
        await restored();
        if (this.differs()) await this.brought(mine);
      }
      if (post === "new") {
        this.left = navigator.locks ? this.left.slice(0, 1) : mine;
        this.left.forEach(({ key }) => lock(nameOf(key)));
      }
      this.name = tab;
    } catch {
      // No storage in this browser: the server's autosave remains.
    }
    // A page that Back has brought as it was left may be old; a reload would keep what is typed in it.
    addEventListener("pageshow", ({ persisted }) => persisted && loadAnew());
    if (this.form.elements.origin) this.form.elements.origin.value = this.name;
  }

  // The page is left, and all that it holds is saved or kept.
  leave() {
    store(LEFT, this.values(), () => sessionStorage);
  }

  // Back, and in Firefox Reload, puts the text of a page that was left into what the server shows now,
  // and a save would replace a version that it was not typed on: the page is loaded without it. What
  // of it was not saved is kept (`mine`, or by the server's autosave); of earlier pages that is unknown.
  async brought(mine) {
    const { refused, post } = this.form.dataset;
    const shown = this.values();
    const left = JSON.parse(sessionStorage.getItem(LEFT));
    const known = (left && alike(left, shown)) || mine.some(({ values }) => alike(values, shown));
    const back = cameBy("back_forward");
    const kept = () => known || (back && Number(post) && this.setAside(shown));
    if (this.form.elements.seen && refused === undefined && kept()) await loadAnew();
    else if (back) this.seen = APART;
  }

  // The form is sent now: what is typed from here on is not in it.
  sending() {
    this.sent = this.values();
    this.keep();
  }

  // The server has saved what was sent, and the page at `address` comes: it gets what was typed since.
  saved(address) {
    this.forget();
    this.attempt = newName();
    this.form.dataset.post = /posts\/(\d+)/.exec(address)?.[1] ?? this.form.dataset.post;
    if (!alike(this.sent, this.values())) this.keep();
  }

  // A form was sent from this tab and the server has confirmed a save.
  forgetSent() {
    const sent = this.left.filter((kept) => kept.key === this.key && wasSent(kept));
    this.left = this.left.filter((kept) => !sent.includes(kept));
    sent.forEach(({ key }) => drop(key));
  }

  get names() {
    const kept = () => new Set([...this.form.elements].filter(isKept).map(({ name }) => name));
    return this.form.dataset.kept?.split(" ") ?? [...kept()];
  }

  values() {
    const values = {};
    for (const name of this.names) {
      if (this.form.elements[name]) values[name] = valueOf(this.form.elements[name]);
    }
    return values;
  }

  defaults() {
    return this.names.map((name) => defaultOf(this.form.elements[name]));
  }

  keepSoon() {
    this.timer ||= setTimeout(() => this.keep(), 300);
  }

  keep() {
    clearTimeout(this.timer);
    this.timer = 0;
    const { version, seen, sent, attempt } = this;
    return store(this.key, { values: this.values(), version, seen, sent, attempt, at: Date.now() });
  }

  // Keep a text that another one replaces in the form, in a slot of its own; it is only offered.
  setAside(values, at = Date.now()) {
    const { version, attempt } = this;
    const key = `${this.prefix}-${newName()}`;
    return store(key, { values, version, seen: APART, attempt, at }) && key;
  }

  // A text that is only offered leaves the slot of this tab, which is for what is typed now.
  putAside(kept) {
    const key = kept.key === this.key && this.setAside(kept.values, kept.at);
    if (!key) return kept;
    drop(kept.key);
    return { ...kept, key };
  }

  // Texts of closed tabs that the page does not show. `newest`: it was typed on what the page shows
  // (but for the date, which publishing sets), so nothing newer exists; else the post was saved or
  // autosaved elsewhere meanwhile.
  found() {
    const shown = this.values();
    const there = this.left.filter(({ values }) => alike(values, shown));
    for (const { key, attempt, values } of there) {
      if (values.source) this.attempt = attempt;
      drop(key);
    }
    if (there.length && this.differs()) this.keep(); // the browser brought it, not the server
    return this.left.filter(({ values }) => !alike(values, shown)).map((kept) => ({
      ...kept,
      time: clock(new Date(kept.at), this.form.dataset.zone),
      newest: Boolean(kept.sent && alike({ ...kept.sent, at: shown.at ?? "" }, shown)) ||
        (kept.version === this.version && (kept.seen ?? "") === this.seen),
    }));
  }

  // Whether there is text that was typed before the scripts ran, or that a reload has kept: no event
  // will tell of it. What the browser's Back brings is left alone: it may have been saved long ago.
  typedBefore() {
    return this.differs() && !cameBy("back_forward");
  }

  // The same, where it is not the browser that has brought it.
  typedNow() {
    return this.differs() && cameBy("navigate");
  }

  // Whether the form has these values still.
  shows(kept) {
    return alike(kept, this.values());
  }

  differs() {
    const fields = this.names.map((name) => this.form.elements[name]);
    return fields.some((field) => field && (defaultOf(field) ?? valueOf(field)) !== valueOf(field));
  }

  use(values) {
    for (const [name, value] of Object.entries(values)) {
      const field = this.form.elements[name];
      if (field?.type === "checkbox") field.checked = value === "on";
      else if (field) field.value = value;
    }
    this.form.dispatchEvent(new Event("input", { bubbles: true }));
  }

  forget() {
    clearTimeout(this.timer);
    this.timer = 0;
    drop(this.key);
  }

  // The draft of a new post has received its number: rename what is kept.
  moveTo(post, version) {
    this.forget();
    this.form.dataset.post = post;
    this.version = String(version);
    this.keep();
  }
}

const KEPT = ["text", "url", "search", "color", "radio", "checkbox"];
const isKept = (field) => ["TEXTAREA", "SELECT"].includes(field.tagName) ||
  (field.tagName === "INPUT" && KEPT.includes(field.type) && field.name && !field.readOnly);

// Of a field, or of the radio buttons of one name (a list).
const valueOf = (field) => (field.type === "checkbox" ? (field.checked ? "on" : "") : field.value);

function defaultOf(field) {
  if (field.type === "checkbox") return field.defaultChecked ? "on" : "";
  if (field instanceof RadioNodeList) return [...field].find((one) => one.defaultChecked)?.value ?? field.value;
  if (field.options) return ([...field.options].find((one) => one.defaultSelected) ?? field.options[0])?.value;
  return field.defaultValue;
}

// The browser has put into the form what it had when its page was left: at the latest with `load`.
const restored = () => new Promise((done) => {
  if (document.readyState === "complete") setTimeout(done);
  else addEventListener("load", () => setTimeout(done), { once: true });
});

const cameBy = (way) => performance.getEntriesByType("navigation")[0]?.type === way;

// This page as the server has it, without what the browser has put in.
function loadAnew() {
  location.replace(location.pathname + location.search);
  return new Promise(() => {});
}

const heldLocks = async () =>
  new Set(((await navigator.locks?.query())?.held ?? []).map((lock) => lock.name));

// The name of this tab. A page after another keeps it; a copy of the tab finds it locked.
let asked;
const tabName = (held) => (asked ??= named(held));

async function named(held) {
  let name = sessionStorage.getItem(TAB);
  if (!name || !navigator.locks || held.has(lockOf(name))) name = newName();
  sessionStorage.setItem(TAB, name);
  lock(name);
  return name;
}

function lock(name) {
  navigator.locks?.request(lockOf(name), { ifAvailable: true }, () => new Promise(() => {}));
}

function store(key, kept, storage = () => localStorage) {
  try {
    storage().setItem(key, JSON.stringify(kept));
    return true;
  } catch {
    return false; // full, or forbidden: the server's autosave is still there
  }
}

export function drop(key) {
  try {
    localStorage.removeItem(key);
  } catch {
    // forbidden: nothing is kept there
  }
}

// What closed tabs have left of any post.
export async function leftOf(author) {
  const held = await heldLocks();
  return leftBehind(`publisher:${author}`, undefined, ":")
    .filter(({ key }) => !key.includes(":form:") && !held.has(lockOf(nameOf(key))));
}

// What was kept under a prefix and never saved, newest first; of new posts those of one kind (post or
// page). The name without a slot is that of older versions.
function leftBehind(prefix, kind, next = "-") {
  const found = [];
  for (const key of Object.keys(localStorage)) {
    if (key !== prefix && !key.startsWith(prefix + next)) continue;
    try {
      const kept = JSON.parse(localStorage.getItem(key));
      if (!kind || (kept.values.kind ?? kind) === kind) found.push({ key, ...kept });
    } catch {
      drop(key);
    }
  }
  return found.sort((one, other) => other.at - one.at);
}

// After a save the server sends the browser on with `done`: the text that it confirms.
export function forgetDone(author) {
  const address = new URL(location.href);
  const done = address.searchParams.get("done");
  if (!done) return;
  try {
    const key = `publisher:${author}:${done}-${sessionStorage.getItem(TAB)}`;
    const kept = JSON.parse(localStorage.getItem(key));
    if (kept && wasSent(kept)) drop(key); // else more was typed since
  } catch {
    // No storage in this browser: nothing was kept.
  }
  address.searchParams.delete("done");
  history.replaceState(history.state, "", address);
}
