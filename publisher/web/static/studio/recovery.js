// Keeps the text in this browser on each keystroke, so that a crash, a closed tab, a lost connection
// or an expired login loses nothing. Text that the server has confirmed is deleted here.
//
// Each page has a slot of its own in the browser's storage, named after the post and a random name,
// and holds a lock of the same name while it is open: a slot without a lock was left by a closed tab.

const OWN = "publisher:slot"; // in the session of a tab: its page's slot, which a reload looks for
const newName = () => `${Date.now().toString(36)}${Math.random().toString(36).slice(2, 8)}`;
const keyOf = (author, post) => `publisher:${author}:${post}`;
const alike = (kept, shown) =>
  Object.keys(kept).every((name) => kept[name] === (shown[name] ?? ""));

export class Recovery {
  constructor(form) {
    this.form = form;
    this.version = form.elements.base_version.value;
    this.sent = null; // what was last sent to be autosaved; its answer may have been lost
    this.left = [];
    this.timer = 0;
    this.name = newName();
  }

  // The stamp of the autosave that the text was typed on.
  get seen() {
    return this.form.elements.seen.value;
  }

  set seen(stamp) {
    this.form.elements.seen.value = stamp;
  }

  get key() {
    return keyOf(this.form.dataset.author, `${this.form.dataset.post}-${this.name}`);
  }

  // Take a slot, and look what closed tabs have left of the same post; of a new post the text of
  // one closed tab, which the next new post of that kind takes over.
  async claim() {
    try {
      const { author, post } = this.form.dataset;
      const held = new Set(((await navigator.locks?.query())?.held ?? []).map((lock) => lock.name));
      if (cameBack() && this.differs()) this.seen = ""; // an old text, not typed on the server's
      const kind = post === "new" ? this.form.elements.kind?.value : undefined;
      const left = leftBehind(keyOf(author, post), kind)
        .filter(({ key }) => !held.has(key));
      const mine = left.filter(({ key }) => key === sessionStorage.getItem(OWN));
      this.left = mine.concat(left.filter((kept) => !mine.includes(kept)));
      if (post === "new") {
        this.left = navigator.locks ? this.left.slice(0, 1) : mine;
        this.left.forEach(({ key }) => lock(key));
      }
      this.open();
    } catch {
      // No storage in this browser: the server's autosave remains.
    }
  }

  open() {
    sessionStorage.setItem(OWN, this.key);
    lock(this.key);
  }

  values() {
    const values = {};
    for (const name of this.form.dataset.kept.split(" ")) {
      if (this.form.elements[name]) values[name] = this.form.elements[name].value;
    }
    return values;
  }

  keepSoon() {
    this.timer ||= setTimeout(() => this.keep(), 300);
  }

  keep() {
    clearTimeout(this.timer);
    this.timer = 0;
    return this.write(this.key, this.values(), this.seen, this.sent);
  }

  write(key, values, seen, sent) {
    const kept = { values, version: this.version, seen, sent, at: Date.now() };
    try {
      localStorage.setItem(key, JSON.stringify(kept));
      return true;
    } catch {
      return false; // full, or forbidden: the server's autosave is still there
    }
  }

  // Keep a text that another one replaces in the form, in a slot of its own; it is only offered.
  setAside(values) {
    const { author, post } = this.form.dataset;
    this.write(keyOf(author, `${post}-${newName()}`), values, "set aside", null);
  }

  // Texts of closed tabs that the page does not show. `newest`: it was typed on what the page shows,
  // so nothing newer exists; else the post was saved or autosaved elsewhere meanwhile.
  found() {
    const shown = this.values();
    for (const { key } of this.left.filter(({ values }) => alike(values, shown))) drop(key);
    return this.left.filter(({ values }) => !alike(values, shown)).map((kept) => ({
      ...kept,
      newest: kept.version === this.version &&
        ((kept.seen ?? "") === this.seen || Boolean(kept.sent && alike(kept.sent, shown))),
    }));
  }

  // Whether there is text that was typed before the scripts ran, or that a reload has kept: no event
  // will tell of it. What the browser's Back brings is left alone: it may have been saved long ago.
  typedBefore() {
    return this.differs() && !cameBack();
  }

  differs() {
    const { title, source } = this.form.elements;
    return [title, source].some((field) => field && field.value !== field.defaultValue);
  }

  use(values) {
    for (const [name, value] of Object.entries(values)) {
      if (this.form.elements[name]) this.form.elements[name].value = value;
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
    this.open();
  }
}

const cameBack = () =>
  performance.getEntriesByType("navigation")[0]?.type === "back_forward";

function lock(key) {
  navigator.locks?.request(key, { ifAvailable: true }, () => new Promise(() => {}));
}

export function drop(key) {
  localStorage.removeItem(key);
}

// What was kept of one post and never saved, newest first; of new ones those of one kind (post or
// page). The name without a slot is that of older versions.
function leftBehind(post, kind) {
  const found = [];
  for (const key of Object.keys(localStorage)) {
    if (key !== post && !key.startsWith(`${post}-`)) continue;
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
  const own = sessionStorage.getItem(OWN);
  if (own?.startsWith(`${keyOf(author, done)}-`)) drop(own);
  address.searchParams.delete("done");
  history.replaceState(history.state, "", address);
}
