// Pictures and sounds by paste, drop or button: sent, then put into the text; alt text is asked for.

import { problemOf, send } from "./form.js";
import { insert } from "./keys.js";

let count = 0;

export class Pictures {
  constructor(form, area, say) {
    Object.assign(this, { form, area, say });
    this.ask = form.querySelector("[data-alt]");
    const button = form.querySelector("[data-picture]");
    button.hidden = false;
    form.querySelector("[data-plain-upload]").hidden = true;
    const picker = form.elements.file;
    button.onclick = () => picker.click();
    picker.onchange = () => {
      this.take([...picker.files]);
      picker.value = "";
    };
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
    this.bindAsk();
  }

  from(event, carried) {
    const files = [...(carried?.files ?? [])];
    if (!files.length || carried.getData("text/plain")) return;
    event.preventDefault();
    this.take(files);
  }

  async take(files) {
    for (const file of files) await this.upload(file);
  }

  async upload(file) {
    count += 1;
    const waiting = `![Adding ${file.name.replace(/[[\]]/g, "")} ${count} …]()`;
    const sound = file.type.startsWith("audio/");
    if (!sound) insert(this.area, waiting);
    this.say(`Adding ${file.name} …`);
    const data = new FormData();
    data.set("csrf_token", this.form.elements.csrf_token.value);
    data.set("file", file);
    try {
      const answer = await send(this.form, "/studio/media", data);
      if (!answer.ok) throw new Error(await problemOf(answer));
      const told = await answer.json();
      if (told.sound) this.enclose(told.sound);
      else this.place(waiting, told);
    } catch (error) {
      this.replace(waiting, "");
      this.say(`${file.name} was not added: ${error.message}.`, true);
    }
  }

  place(waiting, told) {
    const at = this.replace(waiting, told.markdown);
    this.say("Picture added.");
    if (at >= 0) this.askFor(told.url);
  }

  enclose(sound) {
    for (const [name, value] of Object.entries(sound)) this.form.elements[name].value = value;
    this.form.querySelector("details.more").open = true;
    this.form.dispatchEvent(new Event("input", { bubbles: true }));
    this.say("Sound added: it goes out with this post.");
  }

  replace(old, text) {
    const at = this.area.value.indexOf(old);
    if (at >= 0) {
      const { selectionStart: start, selectionEnd: end } = this.area;
      this.area.setRangeText(text, at, at + old.length, "preserve");
      const moved = (place) => (place >= at + old.length ? place + text.length - old.length : place);
      this.area.setSelectionRange(moved(start), moved(end));
      this.area.dispatchEvent(new Event("input", { bubbles: true }));
    }
    return at;
  }

  askFor(address) {
    this.address = address;
    this.ask.hidden = false;
    const input = this.ask.querySelector("input");
    input.value = "";
    input.focus();
  }

  bindAsk() {
    const input = this.ask.querySelector("input");
    const done = () => {
      const words = input.value.trim().replace(/[\\[\]]/g, "\\$&");
      if (words) this.replace(`![](${this.address})`, `![${words}](${this.address})`);
      this.ask.hidden = true;
      this.area.focus();
    };
    this.ask.querySelector("[data-alt-done]").onclick = done;
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        event.preventDefault();
        done();
      } else if (event.key === "Escape") {
        this.ask.hidden = true;
        this.area.focus();
      }
      event.stopPropagation();
    });
  }
}
