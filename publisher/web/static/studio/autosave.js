// Saves the form's text on the server soon after typing pauses, and shows the state.

import { clock, fieldsOf, problemOf, send } from "./form.js";
import { drop } from "./recovery.js";

const PAUSE = 1500; // ms without a keystroke
const LONGEST = 10000; // ms of typing without a pause
const RETRY = 8000; // ms after a failure

export class Autosave {
  // `address` tells where to send; `state` is the element that shows what happened; `born(told)`
  // is called when a new post has become a draft.
  constructor(form, address, state, recovery, born = () => {}) {
    Object.assign(this, { form, address, state, recovery, born });
    this.changedAt = 0;
    this.timer = 0;
    this.busy = false;
    this.stopped = false;
    this.notice = "";
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "hidden" && this.changedAt) this.run();
    });
    addEventListener("pagehide", () => {
      if (this.changedAt || this.busy) this.recovery.keep();
    });
  }

  changed() {
    if (!this.changedAt) this.changedAt = Date.now();
    this.recovery.keepSoon();
    if (this.stopped) return;
    clearTimeout(this.timer);
    const left = Math.max(0, this.changedAt + LONGEST - Date.now());
    this.timer = setTimeout(() => this.run(), Math.min(PAUSE, left));
  }

  async run() {
    clearTimeout(this.timer);
    if (this.busy || this.stopped || !this.changedAt) return;
    this.busy = true;
    this.changedAt = 0;
    const data = fieldsOf(this.form);
    this.recovery.sent = this.recovery.values();
    try {
      await this.take(await send(this.form, this.address(), data));
    } catch {
      this.failed("No connection. The text is kept in this browser.");
    }
    this.busy = false;
    if (this.changedAt && !this.timer) this.changed();
  }

  async take(answer) {
    if (answer.ok) return this.kept(await answer.json());
    if (answer.status === 422) return; // nothing typed yet
    if (answer.status === 401) {
      this.failed("You are logged out. The text is kept in this browser; ");
      const link = Object.assign(document.createElement("a"), {
        href: "/studio/login", target: "_blank", textContent: "log in in another tab",
      });
      this.state.append(link, ".");
      return;
    }
    const problem = await problemOf(answer);
    if (answer.status === 409) this.stopped = true;
    this.failed(`Not saved: ${problem}.`);
  }

  kept(told) {
    this.recovery.seen = told.seen;
    if (told.id) this.born(told);
    this.timer = 0;
    if (told.stale) {
      this.say("This post was changed in another tab. When you save, you will see both texts.", true);
    } else {
      this.say(`${this.notice}Saved ${told.saved}`, Boolean(this.notice));
      this.notice = "";
    }
    if (!this.changedAt) this.recovery.forget();
  }

  // A save without an answer: everything is kept. Online the request may have arrived all the same.
  wait() {
    this.stopped = false;
    this.failed(navigator.onLine
      ? "No answer came, so it is not known whether this was saved. The text is kept in this browser; look at the list of posts before you try again."
      : "No connection, so this is not saved yet. The text is kept in this browser; try again when you are online.");
  }

  failed(words) {
    this.changedAt ||= Date.now();
    const kept = this.recovery.keep();
    this.say(kept ? words : `${words} This browser cannot keep it, so copy the text.`, true);
    if (!this.stopped) this.timer = setTimeout(() => this.run(), RETRY);
  }

  // A problem other than with saving: the next "Saved" must not replace it before it is read.
  tell(words, wrong = false) {
    this.notice = wrong ? `${words} ` : "";
    this.say(words, wrong);
  }

  say(words, wrong = false) {
    this.state.textContent = words;
    this.state.classList.toggle("wrong", wrong);
  }
}

// Texts that this browser kept and the page does not show. The newest is put in at once if nothing
// newer exists; every other one is offered, and nothing goes away but by a button that names it.
// `onUse()` is called when the form holds what is not saved.
export function recover(recovery, banner, onUse) {
  const found = recovery.found();
  if (!found.length && recovery.typedBefore()) onUse();
  const first = found.find(({ newest }) => newest);
  for (const kept of found) {
    const at = clock(new Date(kept.at), recovery.form.dataset.zone);
    const words = document.createElement("p");
    const show = button("Show that text");
    const discard = button(`Discard the text of ${at}`);
    const line = document.createElement("div");
    line.append(words, show, discard);
    banner.append(line);
    banner.hidden = false;
    const shown = recovery.values();
    const use = () => {
      recovery.use(kept.values);
      onUse();
      if (recovery.keep()) drop(kept.key);
      words.textContent = `Recovered the text that this browser kept at ${at}.`;
      show.hidden = true;
    };
    const leave = () => {
      line.remove();
      banner.hidden = !banner.childElementCount;
    };
    words.textContent = `This browser kept a different text of this post at ${at}; the text below was saved elsewhere.`;
    show.onclick = () => {
      recovery.setAside(recovery.values());
      use();
    };
    discard.onclick = () => {
      drop(kept.key);
      if (show.hidden) {
        recovery.use(shown);
        recovery.forget();
      }
      leave();
    };
    if (kept === first) use();
  }
}

const button = (words) =>
  Object.assign(document.createElement("button"), { type: "button", textContent: words });
