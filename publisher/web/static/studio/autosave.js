// Saves the form's text on the server soon after typing pauses, and shows the state.

import { fieldsOf, problemOf, send } from "./form.js";
import { APART, drop, leftOf, newName } from "./recovery.js";

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
    this.stopped = false; // while a save is on its way
    this.next = null; // the button that was pressed meanwhile
    this.saves = 0;
    this.notice = "";
    this.unknown = ""; // what was said of a save whose answer never came
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "hidden" && this.changedAt) this.run();
    });
    addEventListener("pagehide", () => {
      if (!(this.changedAt || this.busy) || this.recovery.keep()) this.recovery.leave();
    });
    addEventListener("beforeunload", (event) => { // where nothing has the text, the browser asks
      if ((this.changedAt || this.busy) && !this.stopped && !this.recovery.keep()) event.preventDefault();
    });
  }

  changed() {
    if (!this.changedAt) this.changedAt = Date.now();
    if (!this.form.elements.source.value.trim()) this.recovery.attempt = newName(); // another text
    this.recovery.keepSoon();
    if (this.stopped) return;
    clearTimeout(this.timer);
    const left = Math.max(0, this.changedAt + LONGEST - Date.now());
    this.timer = setTimeout(() => this.run(), Math.min(PAUSE, left));
  }

  async run() {
    clearTimeout(this.timer);
    this.timer = 0;
    if (this.busy || this.stopped || !this.changedAt) return;
    this.busy = true;
    this.changedAt = 0;
    const { saves } = this;
    const data = fieldsOf(this.form);
    this.recovery.sent = this.recovery.values();
    try {
      const answer = await send(this.form, this.address(), data);
      if (saves === this.saves) await this.take(answer); // else it is of what was saved since
    } catch {
      if (saves === this.saves) this.failed(this.unknown || "No connection. The text is kept in this browser.");
    }
    this.busy = false;
    if (this.changedAt && !this.timer) this.changed();
  }

  async take(answer) {
    if (answer.ok) return this.kept(await answer.json());
    if (answer.status === 422 && !this.form.elements.source.value.trim()) return; // nothing typed yet
    if (answer.status === 401) {
      this.failed("You are logged out. The text is kept in this browser; ");
      this.state.append(link("/studio/login", "log in in another tab"), ".");
      return;
    }
    this.failed(`Not saved: ${await problemOf(answer)}. The text is kept in this browser.`);
  }

  kept(told) {
    this.unknown = "";
    this.recovery.seen = told.seen;
    if (told.id) this.born(told);
    const saved = `${this.notice}Saved ${told.saved}`;
    if (told.stale) {
      this.say(`${saved}. This post was changed in another tab or by somebody else. When you save, you will see both texts.`, true);
    } else if (told.apart) {
      this.say(`${saved}, beside another text, of another tab or device: `, true);
      this.state.append(link(`/studio/posts/${told.id ?? (Number(this.form.dataset.post) || 0)}/unsaved`, "compare them"), ".");
    } else {
      const waits = this.form.dataset.status === "scheduled" ? ". It goes out without these changes until you press Save." : "";
      this.say(saved + waits, Boolean(this.notice));
    }
    this.notice = "";
    if (!this.changedAt) this.recovery.forget();
  }

  // The whole form is sent now.
  sending() {
    this.recovery.sending();
    this.stopped = true;
    this.unknown = "";
    this.say("Saving …");
  }

  // A save without an answer: the request may have arrived all the same.
  wait() {
    this.stopped = false;
    this.next = null;
    this.unknown = "No connection. Your text is safe in this browser. Press Save again: it will not post twice.";
    this.failed(this.unknown);
  }

  // The server has confirmed a save, and the browser or (`goOn`) this page goes on.
  done(address) {
    this.saves += 1;
    this.changedAt = 0;
    clearTimeout(this.timer);
    this.recovery.saved(address);
  }

  // What was typed while the save was on its way is kept next, and what was pressed is done.
  goOn(words) {
    const { next } = this;
    this.next = null;
    this.stopped = false;
    this.say(words);
    if (this.recovery.shows(this.recovery.sent)) this.recovery.forget();
    else this.changed();
    if (next?.form) this.form.requestSubmit(next);
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
// newer exists. Every other one goes to the unsaved texts, where the difference is shown; a form
// without those (`post` is no post) offers it here. Nothing goes away but by a button that names it.
// `onUse()` is called when the form holds what is not saved.
export function recover(recovery, banner, onUse) {
  const found = recovery.found();
  const refused = "refused" in recovery.form.dataset; // the page has what was sent, and nothing else does
  const typing = recovery.typedNow(); // before the scripts ran: that is newer than all
  if (typing || (!found.length && (refused || recovery.typedBefore()))) onUse();
  const first = !typing && found.find(({ newest }) => newest);
  for (const kept of found) {
    if (kept === first) offer(recovery, kept, banner, onUse, true);
    else if (recovery.form.elements.seen) sendApart(recovery, recovery.putAside(kept), banner);
    else offer(recovery, recovery.putAside(kept), banner, onUse, false);
  }
}

function offer(recovery, kept, banner, onUse, first) {
  const shown = recovery.values();
  const show = button(`Show the text of ${kept.time}`);
  const discard = button(`Discard the text of ${kept.time}`);
  const line = tell(banner, `This browser kept a different text at ${kept.time}; the text below was saved elsewhere.`, show, discard);
  const use = () => {
    recovery.use(kept.values);
    recovery.attempt = kept.attempt;
    onUse();
    if (recovery.keep() && kept.key !== recovery.key) drop(kept.key);
    line.firstChild.textContent = `Recovered the text that this browser kept at ${kept.time}.`;
    show.hidden = true;
  };
  show.onclick = () => {
    recovery.setAside(recovery.values());
    use();
  };
  discard.onclick = () => {
    drop(kept.key);
    if (show.hidden) {
      if (!recovery.shows(kept.values)) recovery.setAside(recovery.values()); // typed since: offered again
      recovery.use(shown);
      recovery.forget();
    }
    line.remove();
    banner.hidden = !banner.childElementCount;
  };
  if (first) use();
}

async function sendApart(recovery, kept, banner) {
  const { form } = recovery;
  const post = Number(form.dataset.post) || 0;
  const told = await sendKept(form, post, kept, true);
  if (!told?.apart) return; // it stays in the browser, for the next time; or it is a post now
  tell(banner, `This browser kept a different text at ${kept.time}; the text below was saved elsewhere.`,
    link(`/studio/posts/${post}/unsaved`, "Compare the texts"));
}

// Send a text that the browser has kept to the unsaved texts; what the server says, if it took it.
async function sendKept(form, post, kept, apart) {
  const data = new FormData();
  for (const [name, value] of Object.entries(kept.values)) data.set(name, value);
  data.set("base_version", kept.version);
  data.set("origin", newName());
  data.set("seen", apart ? APART : kept.seen ?? "");
  data.set("attempt", kept.attempt ?? "");
  const answer = await send(form, `/studio/autosave/${post}`, data).catch(() => undefined);
  if (!answer?.ok) return undefined;
  drop(kept.key);
  return answer.json();
}

// Send what closed tabs have left in this browser, of any post, and show it.
export async function collect(form) {
  let more = false;
  for (const kept of await leftOf(form.dataset.author)) {
    const place = kept.key.split(":")[2].split("-")[0];
    const post = Number(place) || 0;
    more = Boolean(await sendKept(form, post, kept, place === "new") ?? (post && await sendKept(form, 0, kept, true))) || more;
  }
  if (more) location.reload();
}

function tell(banner, words, ...more) {
  const line = document.createElement("div");
  line.append(Object.assign(document.createElement("p"), { textContent: words }), ...more);
  banner.append(line);
  banner.hidden = false;
  return line;
}

const button = (words) =>
  Object.assign(document.createElement("button"), { type: "button", textContent: words });

const link = (href, textContent) =>
  Object.assign(document.createElement("a"), { href, target: "_blank", textContent });
