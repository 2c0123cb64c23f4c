// The row of buttons above the text, and the blocks that a `/` at the beginning of a line offers. What
// they write can be undone by Ctrl+Z; a `/` that nothing is chosen for stays what was typed.

import { bold, composing, insert, isHtml, link, slanted } from "./keys.js";

// The lines that are selected, whole.
function lines({ selectionStart, selectionEnd, value }) {
  const start = value.lastIndexOf("\n", selectionStart - 1) + 1;
  const end = value.indexOf("\n", selectionEnd) < 0 ? value.length : value.indexOf("\n", selectionEnd);
  return { start, end, text: value.slice(start, end) };
}

// Lines with a sign before each, or without it where all have it; in HTML the element around them.
function mark(area, sign, tag) {
  const { start, end, text } = lines(area);
  const rows = text.split("\n");
  const there = rows.every((row) => row.startsWith(sign));
  const fresh = isHtml(area) ? (text.startsWith(`<${tag}>`) ? text.slice(tag.length + 2, -tag.length - 3) : `<${tag}>${text}</${tag}>`)
    : rows.map((row) => there ? row.slice(sign.length) : sign + (sign === "## " ? row.replace(/^#+ /, "") : row)).join("\n");
  insert(area, fresh, start, end);
  if (isHtml(area) && !text) area.setSelectionRange(start + tag.length + 2, start + tag.length + 2);
}

function list(area) {
  if (!isHtml(area)) return mark(area, "- ", "li");
  const { start, end, text } = lines(area);
  insert(area, `<ul>${text.split("\n").map((row) => `<li>${row}</li>`).join("")}</ul>`, start, end);
  return area.setSelectionRange(start + 8, start + 8 + text.split("\n")[0].length);
}

// Words of a line as code, or lines as a listing.
function code(area) {
  const { selectionStart: at, selectionEnd: end, value } = area;
  const words = value.slice(at, end);
  const whole = lines(area);
  if (words && !words.includes("\n")) {
    const [open, close] = isHtml(area) ? ["<code>", "</code>"] : words.includes("`") ? ["`` ", " ``"] : ["`", "`"];
    insert(area, open + words + close);
    return area.setSelectionRange(at + open.length, end + open.length);
  }
  if (!words && whole.text.trim()) {
    const [open, close] = isHtml(area) ? ["<code>", "</code>"] : ["`", "`"];
    insert(area, open + close);
    return area.setSelectionRange(at + open.length, at + open.length);
  }
  const [open, close] = isHtml(area) ? ["<pre><code>", "</code></pre>"] : ["```\n", "\n```"];
  insert(area, open + whole.text + close, whole.start, whole.end);
  return area.setSelectionRange(whole.start + open.length, whole.start + open.length + whole.text.length);
}

function divider(area) {
  const { start, text } = lines(area);
  const before = /[^\n]\n$/.test(area.value.slice(0, start)) ? "\n" : "";
  insert(area, `${before}${isHtml(area) ? "<hr>" : "* * *"}\n\n`, start, start + text.length);
}

// The acts by their names. `pictures` adds files; `sound()`, where there is one, chooses the audio.
function actsOf(area, pictures, sound) {
  const acts = {
    bold: () => bold(area),
    italic: () => slanted(area),
    link: () => link(area),
    heading: () => mark(area, "## ", "h2"),
    quote: () => mark(area, "> ", "blockquote"),
    list: () => list(area),
    code: () => code(area),
    divider: () => divider(area),
    picture: () => pictures.choose({ kind: "image", many: false }),
    gallery: () => pictures.choose({ kind: "image" }),
  };
  return sound ? { ...acts, audio: sound } : acts;
}

export function bindTools(form, pictures, sound) {
  const area = form.elements.source;
  const acts = actsOf(area, pictures, sound);
  bindBlocks(area, acts);
  const bar = form.querySelector("[data-tools]");
  if (!bar) return;
  const buttons = [...bar.querySelectorAll("button")];
  bar.hidden = false;
  // One stop for Tab; the arrows lead from button to button.
  buttons.forEach((button, number) => {
    button.tabIndex = number ? -1 : 0;
    button.onclick = () => acts[button.dataset.act]();
    button.onmousedown = (event) => event.preventDefault(); // the text keeps focus and selection
  });
  bar.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -buttons.length, End: buttons.length }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = buttons.indexOf(document.activeElement);
    const next = buttons[Math.abs(step) === 1 ? (at + step + buttons.length) % buttons.length : step < 0 ? 0 : buttons.length - 1];
    for (const button of buttons) button.tabIndex = button === next ? 0 : -1;
    next.focus();
  });
}

const BLOCKS = { picture: "Picture", gallery: "Gallery", quote: "Quote", code: "Code", divider: "Divider", audio: "Audio" };

function bindBlocks(area, acts) {
  const all = Object.entries(BLOCKS).filter(([name]) => acts[name]);
  let menu = null, chosen = 0, offered = [];
  const status = Object.assign(document.createElement("span"), { className: "visually-hidden", role: "status" });
  area.after(status);

  // What stands after the `/` that begins the line of the cursor; undefined where none does.
  const begun = () => {
    const { start, text } = lines(area);
    const typed = area.value.slice(start, area.selectionStart);
    const found = area.selectionStart === area.selectionEnd && text === typed && /^\/(\p{L}*)$/u.exec(typed);
    return found ? found[1].toLowerCase() : undefined;
  };
  const close = () => {
    menu?.remove();
    menu = null;
    area.removeAttribute("aria-activedescendant");
    area.removeAttribute("aria-controls");
  };
  const use = (name) => {
    const { start, end } = lines(area);
    close();
    insert(area, "", start, end);
    acts[name]();
  };
  const choose = (number) => {
    chosen = (number + offered.length) % offered.length;
    [...menu.children].forEach((item, at) => (item.ariaSelected = String(at === chosen)));
    area.setAttribute("aria-activedescendant", `block-${offered[chosen][0]}`);
  };
  const show = () => {
    const typed = begun();
    offered = typed === undefined ? [] : all.filter(([name]) => name.startsWith(typed));
    if (!offered.length) return close();
    const first = !menu;
    menu ??= Object.assign(document.createElement("ul"), { className: "blocks", id: "blocks", role: "listbox", ariaLabel: "Blocks" });
    menu.replaceChildren(...offered.map(([name, label]) => {
      const item = Object.assign(document.createElement("li"), { id: `block-${name}`, role: "option", textContent: label });
      item.onmousedown = (event) => event.preventDefault();
      item.onclick = () => use(name);
      return item;
    }));
    if (first) {
      area.closest("main").append(menu);
      area.setAttribute("aria-controls", menu.id);
      status.textContent = `${offered.length} blocks: arrow keys choose, Enter inserts, Escape leaves the text as it is`;
      const { left, bottom } = caret(area);
      menu.style.left = `${Math.max(8, Math.min(left, innerWidth - menu.offsetWidth - 8)) + scrollX}px`;
      menu.style.top = `${(bottom + menu.offsetHeight > innerHeight ? bottom - menu.offsetHeight - 36 : bottom) + scrollY}px`;
    }
    return choose(0);
  };
  area.addEventListener("input", (event) => !event.isComposing && show());
  area.addEventListener("blur", close);
  area.addEventListener("click", () => menu && begun() === undefined && close());
  area.addEventListener("keydown", (event) => {
    if (!menu || composing(event) || event.ctrlKey || event.metaKey) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
    else if (event.key === "Enter" && begun() !== undefined) use(offered[chosen][0]);
    else if (event.key === "Escape") close();
    else return event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End" ? close() : undefined;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { capture: true });
}

// Where the cursor is in the window: measured in a copy of the text area that ends there.
function caret(area) {
  const copy = document.createElement("div"), end = document.createElement("span");
  const style = getComputedStyle(area), place = area.getBoundingClientRect();
  for (const name of ["font", "lineHeight", "letterSpacing", "padding", "borderWidth", "boxSizing", "direction"]) copy.style[name] = style[name];
  Object.assign(copy.style, { position: "fixed", visibility: "hidden", whiteSpace: "pre-wrap", overflowWrap: "break-word",
    borderStyle: "solid", left: `${place.left}px`, top: `${place.top - area.scrollTop}px`, width: `${place.width}px` });
  end.textContent = "\u200b";
  copy.append(area.value.slice(0, area.selectionStart), end);
  document.body.append(copy);
  const { left, bottom } = end.getBoundingClientRect();
  copy.remove();
  return { left, bottom };
}
