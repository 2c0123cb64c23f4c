// The preview: the page of the post in a frame, its article rendered by the server from what is typed.
// Only what changed is put into the page, so that typing stays fluid in a long post.

import { fieldsOf, send } from "./form.js";

const SHORTEST = 150; // ms between a keystroke and its preview
const UNSEEN = ["csrf_token", "base_version", "seen", "zone", "origin", "attempt", "at"];

export class Preview {
  // `shown()` is called when the frame has something new.
  constructor(form, frame, shown) {
    this.form = form;
    this.told = shown;
    this.frame = frame;
    this.timer = 0;
    this.lasted = SHORTEST;
    this.busy = false;
    this.again = false;
    this.shown = null;
    const paper = (print) => () => { // a frame is printed as high as it is
      const { body } = frame.contentDocument ?? {};
      frame.style.height = print && body ? `${body.scrollHeight}px` : "";
    };
    addEventListener("beforeprint", paper(true));
    addEventListener("afterprint", paper(false));
  }

  get wanted() {
    return this.frame.offsetParent !== null;
  }

  // The element of the page that has the article, once the page is there.
  get page() {
    return this.frame.contentDocument?.querySelector("[data-page]");
  }

  load() {
    this.loading ??= new Promise((loaded) => {
      this.frame.addEventListener("load", () => {
        this.loading = undefined; // where it could not be had, the next change tries again
        this.frame.contentDocument?.addEventListener("keydown", (event) => { // Ctrl+S, Ctrl+E …
          if (!document.dispatchEvent(new KeyboardEvent("keydown", event))) event.preventDefault();
        });
        loaded();
      }, { once: true });
      this.frame.src = this.frame.dataset.src;
    });
    return this.loading;
  }

  changed() {
    clearTimeout(this.timer);
    // Ask less often for a slow server or a long text; never more than one request at a time.
    this.timer = setTimeout(() => this.run(), Math.max(SHORTEST, this.lasted));
  }

  async run() {
    if (!this.wanted) return;
    if (this.busy) {
      this.again = true;
      return;
    }
    const data = fieldsOf(this.form);
    const seen = JSON.stringify([...data].filter(([name]) => !UNSEEN.includes(name)));
    if (seen === this.shown) return;
    this.busy = true;
    const began = performance.now();
    try {
      data.set("post_id", this.form.dataset.post);
      const [answer] = await Promise.all([send(this.form, "/studio/preview", data), this.page || this.load()]);
      if (answer.ok && this.page) {
        const { html } = await answer.json();
        this.lasted = Math.min(3000, performance.now() - began);
        const template = this.frame.contentDocument.createElement("template");
        template.innerHTML = html.trim();
        patch(this.page, template.content);
        this.shown = seen;
        this.told();
      }
    } catch {
      // No connection: the autosave says so.
    }
    this.busy = false;
    if (this.again) {
      this.again = false;
      this.changed();
    }
  }

  // Scroll to the place at `share` of the text (0 to 1), counted in letters of the blocks, so that
  // tall pictures do not count.
  follow(share) {
    const blocks = [...this.page?.querySelector(".prose")?.children ?? []];
    const lengths = blocks.map((block) => block.textContent.length + 1);
    let left = share * lengths.reduce((sum, length) => sum + length, 0);
    const index = lengths.findIndex((length) => (left -= length) <= 0);
    if (index < 0) return;
    const within = 1 + left / lengths[index];
    const view = this.frame.contentWindow;
    const { top, height } = blocks[index].getBoundingClientRect();
    view.scrollTo(0, view.scrollY + top + within * height - view.innerHeight / 2);
  }
}

// Make `place` show `fresh`: nodes that are the same at the beginning and at the end stay, and of one
// element that differs, its parts that are the same.
function patch(place, fresh) {
  const old = [...place.childNodes], next = [...fresh.childNodes];
  let head = 0;
  const least = Math.min(old.length, next.length);
  while (head < least && old[head].isEqualNode(next[head])) head += 1;
  let tail = 0;
  while (tail < least - head && old[old.length - 1 - tail].isEqualNode(next[next.length - 1 - tail])) tail += 1;
  const gone = old.slice(head, old.length - tail), come = next.slice(head, next.length - tail);
  if (gone.length === 1 && come.length === 1 && gone[0].cloneNode().isEqualNode(come[0].cloneNode()) && gone[0].matches?.("article, .prose")) {
    patch(gone[0], come[0]);
    return;
  }
  for (const node of gone) node.remove();
  const middle = document.createDocumentFragment();
  middle.append(...come);
  place.insertBefore(middle, place.childNodes[head] || null);
}
