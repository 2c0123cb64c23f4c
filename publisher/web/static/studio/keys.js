// A few keys for Markdown, and links pasted over selected words. All of it can be undone by Ctrl+Z.

import { markdownOf } from "./richtext.js";

export function insert(area, text, start = area.selectionStart, end = area.selectionEnd) {
  area.focus();
  area.setSelectionRange(start, end);
  // The only way to change a text area so that its undo works; deprecated, but supported everywhere.
  const done = text ? document.execCommand("insertText", false, text) : document.execCommand("delete");
  if (!done) {
    area.setRangeText(text, start, end, "end");
    area.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

// The letter on a key: layouts of other scripts (Cyrillic, Greek) have their own there, Caps Lock capitals.
export const letterOf = ({ key, code, shiftKey }) => shiftKey || !code.startsWith("Key") ? key
  : /^[a-z]$/i.test(key) ? key.toLowerCase() : code.at(-1).toLowerCase();

// Old posts may be HTML: an import or another program wrote them.
export const isHtml = (area) => area.form.elements.source_format?.value === "html";

// What is selected, without the blanks at its ends (Windows selects the one after a word): marks beside
// blanks are none.
function selected({ selectionStart, selectionEnd, value }) {
  const words = value.slice(selectionStart, selectionEnd);
  const chosen = words.trim() || words;
  const start = selectionStart + words.indexOf(chosen);
  return { start, end: start + chosen.length, value, chosen };
}

function wrap(area, mark, last = mark) {
  const { start, end, value, chosen } = selected(area);
  const around = value.slice(start - mark.length, start) === mark
    && value.slice(end, end + last.length) === last;
  if (around && !(mark === "*" && value.slice(start - 2, start) === "**")) {
    insert(area, chosen, start - mark.length, end + last.length);
    area.setSelectionRange(start - mark.length, end - mark.length);
    return;
  }
  insert(area, mark + chosen + last, start, end);
  area.setSelectionRange(start + mark.length, end + mark.length);
}

export function link(area, address = "") {
  const { start, end, chosen } = selected(area);
  const target = address.includes("(") || address.includes(")") ? `<${address}>` : address;
  const [before, after] = isHtml(area) ? [`<a href="${address.replaceAll('"', "%22")}">`, "</a>"] : ["[", `](${target})`];
  insert(area, before + chosen + after, start, end);
  const place = start + (!chosen ? before.length : isHtml(area) ? 9 : chosen.length + 3);
  if (!chosen || !address) area.setSelectionRange(place, place);
}

export const bold = (area) => wrap(area, ...isHtml(area) ? ["<b>", "</b>"] : ["**"]);
export const slanted = (area) => wrap(area, ...isHtml(area) ? ["<i>", "</i>"] : ["*"]);

// A new line in a list, a quotation or a listing begins as the line before it; an empty item ends it
// with an empty line, without which the next words would belong to the last item.
function newLine(area) {
  const { selectionStart: at, selectionEnd: end, value } = area;
  if (at !== end) return false;
  const start = value.lastIndexOf("\n", at - 1) + 1;
  const line = value.slice(start, at);
  const item = /^(\s*)(?:([-*+])|(\d{1,9})([.)]))(\s+)(\[[ xX]\]\s+)?/.exec(line);
  const quoted = /^\s*(?:>\s?)+/.exec(line);
  const begun = item?.[0] ?? quoted?.[0];
  if (!begun || inListing(value, at)) return false;
  if (!line.slice(begun.length).trim()) {
    insert(area, /[^\n]\n$/.test(value.slice(0, start)) ? "\n" : "", start, at);
    return true;
  }
  const sign = item && (item[2] ?? `${Number(item[3]) + 1}${item[4]}`);
  insert(area, `\n${item ? item[1] + sign + item[5] + (item[6] ? "[ ] " : "") : begun}`);
  return true;
}

const inListing = (value, at) => (value.slice(0, at).match(/^ {0,3}(```|~~~)/gm) ?? []).length % 2 === 1;

// Tab belongs to the text in a listing and in a list only: elsewhere it leads to the next control.
function tab(area, back) {
  const { selectionStart: at, selectionEnd: end, value } = area;
  const start = value.lastIndexOf("\n", at - 1) + 1;
  const last = value.indexOf("\n", end) < 0 ? value.length : value.indexOf("\n", end);
  const lines = value.slice(start, last);
  const listing = inListing(value, at);
  if (!listing && !/^\s*([-*+]|\d{1,9}[.)])\s/.test(lines)) return false;
  if (listing && !back && at === end) {
    insert(area, "    ");
    return true;
  }
  const moved = back ? lines.replace(/^ {1,4}/gm, "") : lines.replace(/^/gm, "    ");
  if (moved === lines) return false;
  insert(area, moved, start, last);
  const step = moved.length - lines.length;
  area.setSelectionRange(Math.max(start, at + (at === end ? step : 0)), end + step);
  return true;
}

// Whether a key belongs to words that are being composed (Japanese, Chinese, Korean); the one that
// ends it comes after it in Safari.
export const composing = (event) => event.isComposing || event.keyCode === 229;

export function bindKeys(area) {
  const acts = { b: () => bold(area), i: () => slanted(area), k: () => link(area) };
  let escaped = false; // Tab after Escape leads on: who has no mouse could not leave a list otherwise
  area.addEventListener("keydown", (event) => {
    const leads = escaped;
    if (event.key !== "Shift") escaped = event.key === "Escape";
    if (event.altKey || composing(event)) return;
    if (event.ctrlKey || event.metaKey) {
      const act = acts[letterOf(event)];
      if (!act) return;
      act();
    } else if (!(event.key === "Enter" && !event.shiftKey && newLine(area)) &&
      !(event.key === "Tab" && !leads && tab(area, event.shiftKey))) return;
    event.preventDefault();
  });
  area.addEventListener("paste", (event) => {
    const pasted = event.clipboardData?.getData("text/plain").trim() ?? "";
    const chosen = area.value.slice(area.selectionStart, area.selectionEnd);
    const listing = inListing(area.value, area.selectionStart);
    if (listing || !chosen.trim() || !/^https?:\/\/\S+$/.test(pasted) || /^https?:\/\/\S+$/.test(chosen.trim())) {
      // A picture that was copied in a page comes with its address there; the file is added (pictures.js).
      const file = !pasted && event.clipboardData?.files.length;
      const html = (!file && event.clipboardData?.getData("text/html")) || "";
      const plain = /^https?:\/\/\S+$/.test(pasted) || isHtml(area);
      const shaped = html && !plain && !listing && markdownOf(html);
      if (shaped) {
        event.preventDefault();
        // What begins with a heading, list, table … is one only on a line of its own.
        const begun = /[^\n]$/.test(area.value.slice(0, area.selectionStart)) && /^(#+ |[-|>] |\d+\. |```)/.test(shaped);
        insert(area, begun ? `\n\n${shaped}` : shaped);
      }
      return;
    }
    event.preventDefault();
    link(area, pasted);
  });
}
