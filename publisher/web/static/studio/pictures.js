// Files by paste, drop, button or from the library, several at once: pictures get neighbouring lines in
// the text, which makes them a row, other files a paragraph of their own. Each has an entry in a tray
// below, with its progress, its description and its caption.

import { upload } from "./form.js";
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
    const library = form.querySelector("[data-choose]");
    library.onclick = (event) => {
      event.preventDefault();
      this.choose();
    };
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
    const all = files.map((file) => {
      count += 1;
      const sound = BESIDE.test(file.type + file.name) && this.form.elements.enclosure_url;
      const held = sound ? "" : `*Adding ${file.name.replace(/[*_[\]<>`\\]/g, " ")} ${count} …*`;
      return { file, held, picture: file.type.startsWith("image/"), lead: "", trail: "" };
    });
    this.place(all.filter((one) => one.held));
    this.waiting.push(...all);
    this.writing = false;
    this.refused = [];
    this.say(files.length === 1 ? `Adding ${files[0].name} …` : `Adding ${files.length} files …`);
    this.next();
  }

  // The dialog with the files that are there: what is picked comes into the text like an upload.
  async choose(options = {}) {
    const { selectionStart: start, selectionEnd: end } = this.area;
    const { choose } = await import("./chooser.js");
    const { picked, files } = await choose({ many: true, format: this.form.elements.source_format?.value, ...options });
    this.area.focus();
    this.area.setSelectionRange(start, end);
    if (files.length) this.take(files);
    const all = picked.map((told) => ({ file: { name: told.name }, told, held: told.markdown, picture: Boolean(told.small), lead: "", trail: "" }));
    this.place(all);
    for (const one of all) {
      one.text = one.held;
      this.describe(one, one.told);
    }
    if (all.length) this.say("Added.");
  }

  // Puts what is `held` of each into the text, as paragraphs; neighbouring pictures share one.
  place(all) {
    if (!all.length) return;
    const { value, selectionStart: start, selectionEnd: end } = this.area;
    const gap = (text, edge) => (!text.trim() || edge(text, "\n\n") ? "" : edge(text, "\n") ? "\n" : "\n\n");
    const trail = gap(value.slice(end), (text, part) => text.startsWith(part));
    const rows = this.form.elements.source_format?.value !== "html" && this.form.elements.gallery?.value !== "off";
    all.forEach((one, number) => {
      const before = all[number - 1];
      one.lead = !before ? gap(value.slice(0, start), (text, part) => text.endsWith(part))
        : rows && before.picture && one.picture ? "\n" : "\n\n";
      this.show(one);
    });
    all.at(-1).trail = trail;
    // At the end too: what is written next is no part of the picture's paragraph.
    insert(this.area, all.map((one) => one.lead + one.held).join("") + (value.slice(end).trim() ? trail : "\n\n"), start, end);
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
    const { told, problem, later } = await upload(this.form, one.file);
    await this.composed;
    if (!told) return this.refuse(one, problem, later);
    if (!one.held) return this.enclose(told.inputs);
    one.text = told.markdown;
    if (this.replace(one.held, one.text) >= 0) return this.arrived(one, told);
    this.refused.push(`${one.file.name} has no place in the text any more; it is among the files.`);
    this.say(this.refused.join(" "), true);
    this.close(one);
  }

  refuse(one, problem, later) {
    const words = `${one.file.name} was not added: ${problem}.`;
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
    const after = this.area.value.split(one.held, 2)[1] ?? "";
    const trail = after === "\n\n" ? after : one.trail;
    const rest = /^\n[^\n]/.test(after) ? `${one.held}\n` : one.lead + one.held + trail; // a row goes on
    if (one.held && this.replace(rest, "") < 0) this.replace(one.held, "");
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
    if (one.told) one.canvas.replaceWith(Object.assign(document.createElement("img"), { src: one.told.small, alt: "" }));
    else draw(one.canvas, one.file);
  }

  arrived(one, told) {
    const sound = told.inputs.enclosure_url; // the box has no field for it
    if (sound) this.refused.push(`${one.file.name} is a link here; add an episode in the full editor.`);
    if (this.refused.length) this.say(this.refused.join(" "), true);
    else this.say(this.running > 1 || this.waiting.length ? "Added. More to come." : "Added.");
    this.describe(one, told);
  }

  // The fields for what a picture shows and for the words below it.
  describe(one, told) {
    const html = told.markdown.startsWith("<img");
    if (!html && !told.markdown.startsWith("!")) return this.close(one);
    const field = (placeholder, what, value) => {
      const input = Object.assign(document.createElement("input"), { maxLength: 1000, placeholder, value });
      input.setAttribute("aria-label", `${what} of ${one.file.name}`);
      input.addEventListener("input", (event) => {
        event.stopPropagation();
        const fresh = shown(told.url, description.value.trim(), caption.value.trim(), html);
        if (this.replace(one.text, fresh) >= 0) one.text = fresh;
      });
      input.addEventListener("keydown", (event) => {
        if (!["Enter", "Escape"].includes(event.key) || event.ctrlKey || event.metaKey || composing(event)) return;
        event.preventDefault();
        event.stopPropagation();
        const rest = [...this.tray.querySelectorAll("[data-describes]")].filter((other) => other !== description && !other.value);
        if (description.value.trim() || event.key === "Escape") this.close(one);
        (event.key === "Enter" && rest.length ? rest[0] : this.area).focus();
      });
      return input;
    };
    const description = field("Describe this picture", "Description", told.alt ?? "");
    description.dataset.describes = "";
    const caption = field("Caption (optional)", "Caption", "");
    const done = Object.assign(document.createElement("button"), {
      type: "button", className: "plain small", textContent: "Done",
    });
    done.setAttribute("aria-label", `Done with ${one.file.name}`);
    done.onclick = () => this.close(one);
    one.words.replaceWith(description, caption, done);
    const last = this.running === 1 && !this.waiting.length;
    if (last && !this.writing && document.activeElement === this.area) this.tray.querySelector("[data-describes]").focus();
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

// A picture as the text has it, with its caption.
function shown(url, words, caption, html) {
  if (html) {
    const plain = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
    const image = `<img src="${url}" alt="${plain(words)}">`;
    return caption ? `<figure>${image}<figcaption>${plain(caption)}</figcaption></figure>` : image;
  }
  const title = caption ? ` "${caption.replace(/["\\]/g, "\\$&")}"` : "";
  return `![${words.replace(/[\\[\]]/g, "\\$&")}](${url}${title})`;
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
