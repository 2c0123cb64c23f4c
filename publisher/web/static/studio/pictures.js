// Uploads of files by paste, drop or button, several at once: each gets a paragraph of its own in the
// text, and a row in a tray below with its progress and its description.

import { problemOf, send } from "./form.js";
import { composing, insert } from "./keys.js";

const AT_ONCE = 2;
const THUMBNAIL = 96;
// Files that fill other fields than the text: sounds and their transcripts.
const BESIDE = /^audio\/|\.(vtt|srt|json|html)$/;
let count = 0;

export class Pictures {
  constructor(form, area, say) {
    Object.assign(this, { form, area, say });
    this.tray = form.querySelector("[data-tray]");
    this.waiting = [];
    this.refused = [];
    this.failed = new Set(); // not by the file's fault: it can be tried again
    this.running = 0;
    const button = form.querySelector("[data-picture]");
    button.hidden = false;
    const plain = form.querySelector("[data-plain-upload]");
    if (plain) plain.hidden = true;
    const picker = Object.assign(document.createElement("input"), { type: "file", multiple: true });
    picker.accept = "image/jpeg,image/png,image/webp,image/gif,image/avif,audio/*,video/mp4,video/webm,video/quicktime,application/pdf,.vtt,.srt,.json,.html";
    button.onclick = () => picker.click();
    picker.onchange = () => {
      this.take([...picker.files]);
      picker.value = "";
    };
    form.addEventListener("submit", (event) => this.hold(event), { capture: true });
    // Whoever writes on meanwhile keeps the focus, and words that are being composed are waited for.
    area.addEventListener("beforeinput", () => this.writing = true);
    area.addEventListener("compositionstart", () => {
      this.composed = new Promise((end) => area.addEventListener("compositionend", end, { once: true }));
    });
    area.addEventListener("paste", (event) => this.from(event, event.clipboardData));
    area.addEventListener("dragover", (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      area.classList.add("dropping");
    });
    area.addEventListener("dragleave", () => area.classList.remove("dropping"));
    area.addEventListener("drop", (event) => {
      area.classList.remove("dropping");
      this.from(event, event.dataTransfer);
    });
    // The page was left before these were added: nothing is sent with their places in it.
    for (const [held, name] of area.value.matchAll(/\*Adding ([^*\n]+) \d+ …\*/g)) {
      const one = { file: { name }, held, lead: "\n\n", trail: "" };
      this.show(one);
      this.offer(one, `${name} was not added: the page was left. Leave it out, and add it again.`);
    }
  }

  from(event, carried) {
    const files = [...(carried?.files ?? [])];
    if (!files.length || carried.getData("text/plain")) return;
    event.preventDefault();
    this.take(files);
  }

  // All get their places in the text at once, in order, because uploads can end in any order.
  take(files) {
    const { value, selectionStart: start, selectionEnd: end } = this.area;
    const gap = (text, edge) => (!text.trim() || edge(text, "\n\n") ? "" : edge(text, "\n") ? "\n" : "\n\n");
    let lead = gap(value.slice(0, start), (text, part) => text.endsWith(part));
    const trail = gap(value.slice(end), (text, part) => text.startsWith(part));
    let text = "";
    for (const file of files) {
      count += 1;
      const sound = BESIDE.test(file.type + file.name) && this.form.elements.enclosure_url;
      const held = sound ? "" : `*Adding ${file.name.replace(/[*_[\]<>`\\]/g, " ")} ${count} …*`;
      const one = { file, held, lead: held && lead, trail: "" };
      if (held) {
        text += lead + held;
        lead = "\n\n";
        this.show(one);
      }
      this.waiting.push(one);
    }
    if (text) {
      this.waiting.findLast((one) => one.held).trail = trail;
      // At the end too: what is written next is no part of the picture's paragraph.
      insert(this.area, text + (value.slice(end).trim() ? trail : "\n\n"), start, end);
    }
    this.writing = false;
    this.refused = [];
    this.say(files.length === 1 ? `Adding ${files[0].name} …` : `Adding ${files.length} files …`);
    this.next();
  }

  next() {
    while (this.running < AT_ONCE && this.waiting.length) {
      this.running += 1;
      this.upload(this.waiting.shift()).finally(() => {
        this.running -= 1;
        this.next();
      });
    }
    if (!this.running && this.held) {
      const button = this.held;
      this.held = null;
      this.form.requestSubmit(button);
    }
  }

  // The form is not sent while files are being uploaded: the post would be published without them.
  hold(event) {
    if (!this.running && !this.failed.size) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (!this.running) return this.say("First try the files below the text again, or leave them out.", true);
    this.held = event.submitter;
    this.say("As soon as everything is added …");
  }

  async upload(one) {
    const data = new FormData();
    data.set("csrf_token", this.form.elements.csrf_token.value);
    data.set("file", one.file);
    data.set("source_format", this.form.elements.source_format?.value ?? "");
    const answer = await send(this.form, "/studio/media", data).catch(() => undefined);
    const told = answer?.ok && await answer.json().catch(() => undefined);
    await this.composed;
    if (!told) return this.refuse(one, answer);
    if (!one.held) return this.enclose(told.inputs);
    one.text = told.markdown;
    if (this.replace(one.held, one.text) >= 0) return this.arrived(one, told);
    this.refused.push(`${one.file.name} has no place in the text any more; it is among the files.`);
    this.say(this.refused.join(" "), true);
    this.close(one);
  }

  async refuse(one, answer) {
    const later = !answer || answer.ok || [401, 429].includes(answer.status) || answer.status >= 500;
    const reason = !answer || answer.ok ? "no connection"
      : answer.status === 401 ? "you are logged out; log in in another tab" : await problemOf(answer);
    const words = `${one.file.name} was not added: ${reason}.`;
    this.held = null;
    if (one.held && later) this.offer(one, words);
    else this.leaveOut(one);
    this.refused.push(words);
    this.say(this.refused.join(" "), true);
  }

  // The file is good: it keeps its place in the text, and nothing is sent before this is settled.
  offer(one, words) {
    this.failed.add(one);
    const again = Object.assign(document.createElement("button"), { type: "button", textContent: "Try again" });
    const out = Object.assign(document.createElement("button"), { type: "button", textContent: "Leave it out" });
    one.words.replaceChildren(`${words} `, ...(one.file.size ? [again, " "] : []), out);
    again.onclick = () => {
      this.failed.delete(one);
      this.refused = this.refused.filter((told) => told !== words);
      one.words.textContent = `Adding ${one.file.name} …`;
      this.waiting.push(one);
      this.next();
    };
    out.onclick = () => this.leaveOut(one);
  }

  leaveOut(one) {
    this.failed.delete(one);
    const trail = this.area.value.endsWith(`${one.held}\n\n`) ? "\n\n" : one.trail;
    if (one.held && this.replace(one.lead + one.held + trail, "") < 0) this.replace(one.held, "");
    this.close(one);
  }

  close(one) {
    one.row?.remove();
    this.tray.hidden = !this.tray.children.length;
  }

  // A row of the tray: what it is, how far it is, and its description.
  show(one) {
    one.row = document.createElement("li");
    one.canvas = Object.assign(document.createElement("canvas"), { width: THUMBNAIL, height: THUMBNAIL });
    one.words = Object.assign(document.createElement("span"), {
      className: "quiet small", textContent: `Adding ${one.file.name} …`,
    });
    one.row.append(one.canvas, one.words);
    this.tray.append(one.row);
    this.tray.hidden = false;
    draw(one.canvas, one.file);
  }

  arrived(one, told) {
    const sound = told.inputs.enclosure_url; // the box has no field for it
    if (sound) this.refused.push(`${one.file.name} is a link here; add an episode in the full editor.`);
    if (this.refused.length) this.say(this.refused.join(" "), true);
    else this.say(this.running > 1 || this.waiting.length ? "Added. More to come." : "Added.");
    const html = told.markdown.startsWith("<img");
    if (!html && !told.markdown.startsWith("!")) return this.close(one);
    const input = Object.assign(document.createElement("input"), {
      maxLength: 1000, placeholder: "Describe this picture",
    });
    input.setAttribute("aria-label", `Description of ${one.file.name}`);
    input.addEventListener("input", (event) => {
      event.stopPropagation();
      const words = input.value.trim();
      const fresh = html ? `<img src="${told.url}" alt="${words.replaceAll("&", "&amp;").replaceAll('"', "&quot;")}">`
        : `![${words.replace(/[\\[\]]/g, "\\$&")}](${told.url})`;
      if (this.replace(one.text, fresh) >= 0) one.text = fresh;
    });
    input.addEventListener("keydown", (event) => {
      if (!["Enter", "Escape"].includes(event.key) || event.ctrlKey || event.metaKey || composing(event)) return;
      event.preventDefault();
      event.stopPropagation();
      const rest = [...this.tray.querySelectorAll("input")].filter((other) => other !== input && !other.value);
      if (input.value.trim() || event.key === "Escape") this.close(one);
      (event.key === "Enter" && rest.length ? rest[0] : this.area).focus();
    });
    const done = Object.assign(document.createElement("button"), {
      type: "button", className: "plain small", textContent: "Done",
    });
    done.setAttribute("aria-label", `Done with ${one.file.name}`);
    done.onclick = () => this.close(one);
    one.words.replaceWith(input, done);
    const last = this.running === 1 && !this.waiting.length;
    if (last && !this.writing && document.activeElement === this.area) this.tray.querySelector("input").focus();
  }

  enclose(inputs) {
    for (const [name, value] of Object.entries(inputs)) this.form.elements[name].value = value;
    this.form.querySelector("details.more").open = true;
    this.form.dispatchEvent(new Event("input", { bubbles: true }));
    this.say(inputs.transcript ? "Transcript added. It goes out with the audio." : "Audio added. It goes out with this post.");
  }

  replace(old, text) {
    const { area, writing } = this;
    const at = area.value.indexOf(old);
    if (at < 0) return at;
    const { selectionStart: start, selectionEnd: end } = area;
    if (document.activeElement === area) insert(area, text, at, at + old.length); // Ctrl+Z goes on working
    else {
      area.setRangeText(text, at, at + old.length);
      area.dispatchEvent(new Event("input", { bubbles: true }));
    }
    const moved = (place) => (place >= at + old.length ? place + text.length - old.length : Math.min(place, at + text.length));
    area.setSelectionRange(moved(start), moved(end));
    this.writing = writing;
    return at;
  }
}

// The file as a small picture; empty where this browser cannot read it (HEIC, PDF).
async function draw(canvas, file) {
  try {
    const image = await createImageBitmap(file);
    const side = Math.min(image.width, image.height);
    const [left, top] = [(image.width - side) / 2, (image.height - side) / 2];
    canvas.getContext("2d").drawImage(image, left, top, side, side, 0, 0, THUMBNAIL, THUMBNAIL);
    image.close();
  } catch {
    canvas.hidden = true;
  }
}
