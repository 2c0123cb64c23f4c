// A few keys for Markdown, and links pasted over selected words. All of it can be undone by Ctrl+Z.

export function insert(area, text, start = area.selectionStart, end = area.selectionEnd) {
  area.focus();
  area.setSelectionRange(start, end);
  // The one way to change a text area that its own undo knows of; old, but everywhere.
  if (!document.execCommand("insertText", false, text)) {
    area.setRangeText(text, start, end, "end");
    area.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

export function wrap(area, mark) {
  const { selectionStart: start, selectionEnd: end, value } = area;
  const chosen = value.slice(start, end);
  const around = value.slice(start - mark.length, start) === mark
    && value.slice(end, end + mark.length) === mark;
  if (around && !(mark === "*" && value.slice(start - 2, start) === "**")) {
    insert(area, chosen, start - mark.length, end + mark.length);
    area.setSelectionRange(start - mark.length, end - mark.length);
    return;
  }
  insert(area, mark + chosen + mark, start, end);
  area.setSelectionRange(start + mark.length, end + mark.length);
}

export function link(area, address = "") {
  const { selectionStart: start, selectionEnd: end, value } = area;
  const chosen = value.slice(start, end);
  const target = address.includes("(") || address.includes(")") ? `<${address}>` : address;
  insert(area, `[${chosen}](${target})`, start, end);
  const inside = start + 1 + chosen.length;
  if (!chosen) area.setSelectionRange(start + 1, start + 1);
  else if (!address) area.setSelectionRange(inside + 2, inside + 2);
}

export function bindKeys(area) {
  area.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    const acts = { b: () => wrap(area, "**"), i: () => wrap(area, "*"), k: () => link(area) };
    const act = acts[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  });
  area.addEventListener("paste", (event) => {
    const pasted = event.clipboardData?.getData("text/plain").trim() ?? "";
    const chosen = area.value.slice(area.selectionStart, area.selectionEnd);
    if (!chosen.trim() || !/^https?:\/\/\S+$/.test(pasted) || /^https?:\/\/\S+$/.test(chosen.trim())) {
      return;
    }
    event.preventDefault();
    link(area, pasted);
  });
}
