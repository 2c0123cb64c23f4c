// The preview: rendered by the server, exactly what will be published; only what changed is put
// into the page, so that typing stays fluid in a long post.

import { send } from "./form.js";

const SHORTEST = 150; // ms between a keystroke and its preview

export class Preview {
  // `shown()` is called when the pane has something new.
  constructor(form, pane, shown) {
    this.form = form;
    this.told = shown;
    this.pane = pane;
    this.prose = pane.querySelector("[data-preview]");
    this.title = pane.querySelector("[data-preview-title]");
    this.timer = 0;
    this.lasted = SHORTEST;
    this.busy = false;
    this.again = false;
    this.shown = null;
  }

  get wanted() {
    return !this.pane.hidden && this.pane.offsetParent !== null;
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
    const source = this.form.elements.source.value;
    this.title.textContent = this.form.elements.title.value;
    this.title.hidden = !this.title.textContent.trim();
    if (source === this.shown) return;
    this.busy = true;
    const began = performance.now();
    try {
      const data = new FormData();
      data.set("csrf_token", this.form.elements.csrf_token.value);
      data.set("source", source);
      data.set("source_format", this.form.elements.source_format.value);
      data.set("post_id", this.form.dataset.post);
      const answer = await send(this.form, "/studio/preview", data);
      if (answer.ok) {
        const html = (await answer.json()).html;
        this.lasted = Math.min(3000, performance.now() - began);
        patch(this.prose, html);
        this.shown = source;
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
    const blocks = [...this.prose.children];
    const lengths = blocks.map((block) => block.textContent.length + 1);
    let left = share * lengths.reduce((sum, length) => sum + length, 0);
    const index = lengths.findIndex((length) => (left -= length) <= 0);
    if (index < 0) return;
    const block = blocks[index];
    const within = 1 + left / lengths[index];
    this.pane.scrollTop = block.offsetTop + within * block.offsetHeight - this.pane.clientHeight / 2;
  }
}

// Make `place` show `html`: blocks that are the same at the beginning and at the end stay.
function patch(place, html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  const fresh = [...template.content.childNodes];
  const old = [...place.childNodes];
  let head = 0;
  const least = Math.min(old.length, fresh.length);
  while (head < least && old[head].isEqualNode(fresh[head])) head += 1;
  let tail = 0;
  while (
    tail < least - head &&
    old[old.length - 1 - tail].isEqualNode(fresh[fresh.length - 1 - tail])
  ) tail += 1;
  for (const node of old.slice(head, old.length - tail)) node.remove();
  const middle = document.createDocumentFragment();
  middle.append(...fresh.slice(head, fresh.length - tail));
  place.insertBefore(middle, place.childNodes[head] || null);
}
