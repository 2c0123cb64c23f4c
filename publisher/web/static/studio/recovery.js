// Keeps the text in this browser on each keystroke, so that a crash, a closed tab, a lost connection
// or an expired login loses nothing. Text that the server has confirmed is deleted here.

const OWN = "publisher:new"; // in the session of a tab: under which name it keeps a new post
const newName = () => `${Date.now().toString(36)}${Math.random().toString(36).slice(2, 8)}`;
const keyOf = (author, post) => `publisher:${author}:${post}`;

export class Recovery {
  constructor(form) {
    this.form = form;
    this.version = form.elements.base_version.value;
    this.timer = 0;
  }

  get key() {
    return keyOf(this.form.dataset.author, this.own || this.form.dataset.post);
  }

  // A new post is kept under a name of its own for each tab. An open tab holds a lock; the text of a
  // closed tab is taken over by the next new post of the same kind.
  async claim() {
    if (this.form.dataset.post !== "new") return;
    try {
      await this.claimName(this.form.dataset.author);
    } catch {
      // No storage in this browser: the server's autosave remains.
    }
  }

  async claimName(author) {
    const taken = new Set(((await navigator.locks?.query())?.held ?? []).map((lock) => lock.name));
    const left = leftBehind(keyOf(author, "new-"), this.form.elements.kind?.value)
      .filter((key) => !taken.has(key));
    const mine = left.find((key) => key === sessionStorage.getItem(OWN));
    const key = mine ?? (navigator.locks && left[0]) ?? keyOf(author, `new-${newName()}`);
    this.own = key.slice(keyOf(author, "").length);
    sessionStorage.setItem(OWN, key);
    navigator.locks?.request(key, { ifAvailable: true }, () => new Promise(() => {}));
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
    const kept = { values: this.values(), version: this.version, at: Date.now() };
    try {
      localStorage.setItem(this.key, JSON.stringify(kept));
      return true;
    } catch {
      return false; // full, or forbidden: the server's autosave is still there
    }
  }

  // Text that this browser has and the page does not; null when there is nothing to recover.
  found() {
    try {
      const kept = JSON.parse(localStorage.getItem(this.key));
      if (!kept) return null;
      const shown = this.values();
      if (Object.keys(kept.values).every((name) => kept.values[name] === (shown[name] ?? ""))) {
        this.forget();
        return null;
      }
      return { ...kept, sameVersion: kept.version === this.version };
    } catch {
      return null;
    }
  }

  // Whether there is text that was typed before the scripts ran, or that a reload has kept: no event
  // will tell of it. What the browser's Back brings is left alone: it may have been saved long ago.
  typedBefore() {
    if (performance.getEntriesByType("navigation")[0]?.type === "back_forward") return false;
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
    localStorage.removeItem(this.key);
  }

  // The draft of a new post has received its number: rename what is kept.
  moveTo(post, version) {
    this.forget();
    this.own = "";
    this.form.dataset.post = post;
    this.version = String(version);
    this.keep();
  }
}

// New posts of one kind (post or page) that were kept and never saved, newest first.
function leftBehind(prefix, kind) {
  const found = [];
  for (const key of Object.keys(localStorage)) {
    if (!key.startsWith(prefix)) continue;
    try {
      const kept = JSON.parse(localStorage.getItem(key));
      if ((kept.values.kind ?? kind) === kind) found.push({ key, at: kept.at });
    } catch {
      localStorage.removeItem(key);
    }
  }
  return found.sort((one, other) => other.at - one.at).map(({ key }) => key);
}

// After a save the server sends the browser on with `done`: the text that it confirms.
export function forgetDone(author) {
  const address = new URL(location.href);
  const done = address.searchParams.get("done");
  if (!done) return;
  localStorage.removeItem(done === "new" ? sessionStorage.getItem(OWN) : keyOf(author, done));
  address.searchParams.delete("done");
  history.replaceState(history.state, "", address);
}
