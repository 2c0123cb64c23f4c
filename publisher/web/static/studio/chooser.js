// The dialog that offers the files of the library, and takes new ones: from the disk, dropped, pasted.
// It is loaded when it is first asked for.

const made = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};
const WORDS = { image: ["a picture", "pictures"], audio: ["audio", "audio files"], "": ["a file", "files"] };

// What was chosen: `picked` of the library, and new `files`; nothing when the dialog was closed.
// `kind`: image, audio, or "" for all. `many`: more than one can be picked. `format`: of the text.
export function choose({ kind = "", many = false, format = "" } = {}) {
  const [one, several] = WORDS[kind];
  const picked = new Map();
  let asked = 0, older = null, timer = 0;

  const status = made("p", { className: "quiet small", role: "status" });
  const list = made("ul", { className: "choices-of-files" });
  const search = made("input", { type: "search", placeholder: "Search names and descriptions" });
  search.setAttribute("aria-label", "Search names and descriptions");
  const upload = made("button", { type: "button", textContent: many ? "Upload" : `Upload ${one}` });
  const close = made("button", { type: "button", className: "plain", textContent: "Close" });
  const more = made("button", { type: "button", textContent: "Older files", hidden: true });
  const use = made("button", { type: "button", className: "primary", hidden: true });
  const title = made("h2", { id: "h-chooser", textContent: `Choose ${many ? several : one}` });
  const dialog = made("dialog", { className: "chooser" },
    made("div", { className: "stack tight" },
      made("div", { className: "room-head" }, title, close),
      made("div", { className: "row" }, upload, search),
      status, list, made("div", { className: "row foot" }, use, more)));
  dialog.setAttribute("aria-labelledby", title.id);

  const entry = (file) => {
    const shown = file.small ? made("img", { src: file.small, alt: "", loading: "lazy" })
      : made("span", { className: "kind", textContent: file.url.split(".").pop().toUpperCase() });
    const button = made("button", { type: "button" }, shown, made("span", { textContent: file.alt || file.name }));
    if (many) button.ariaPressed = "false";
    button.onclick = () => {
      if (!many) return finish([file]);
      if (!picked.delete(file.id)) picked.set(file.id, file);
      button.ariaPressed = String(picked.has(file.id));
      use.hidden = !picked.size;
      use.textContent = picked.size === 1 ? "Add 1 file" : `Add ${picked.size} files`;
      return undefined;
    };
    return made("li", {}, button);
  };

  async function show(goOn = false) {
    const question = ++asked;
    const words = new URLSearchParams({ q: search.value, kind, source_format: format });
    if (goOn) words.set("before", older);
    const answer = await fetch(`/studio/media?${words}`, { headers: { Accept: "application/json" } }).catch(() => undefined);
    const told = answer?.ok && !answer.redirected && await answer.json().catch(() => undefined);
    if (question !== asked) return;
    status.textContent = told ? "" : answer?.status === 401 || answer?.redirected
      ? "You are logged out; log in in another tab." : "No connection: the files cannot be shown now.";
    if (!told) return;
    older = told.older;
    more.hidden = !older;
    const fresh = told.files.map(entry);
    if (goOn) list.append(...fresh);
    else list.replaceChildren(...fresh);
    if (goOn) fresh[0]?.firstChild.focus();
    else if (!fresh.length) status.textContent = search.value ? "No files match." : "Nothing has been uploaded yet.";
  }

  let finish;
  const result = new Promise((resolve) => {
    finish = (chosen = [], files = []) => {
      resolve({ picked: chosen, files: many ? files : files.slice(0, 1) });
      dialog.close();
    };
  });
  const from = (event, carried) => {
    const files = [...(carried?.files ?? [])];
    if (!files.length) return;
    event.preventDefault();
    finish([], files);
  };
  dialog.addEventListener("close", () => {
    finish(); // by Escape
    dialog.remove();
  }, { once: true });
  dialog.addEventListener("keydown", (event) => event.stopPropagation()); // Ctrl+Enter publishes below
  dialog.addEventListener("dragover", (event) => event.preventDefault());
  dialog.addEventListener("drop", (event) => from(event, event.dataTransfer));
  dialog.addEventListener("paste", (event) => from(event, event.clipboardData));
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(show, 200);
  });
  close.onclick = () => dialog.close();
  more.onclick = () => show(true);
  use.onclick = () => finish([...picked.values()]);
  upload.onclick = () => {
    const picker = made("input", { type: "file", multiple: many, accept: kind && `${kind}/*` });
    picker.onchange = () => picker.files.length && finish([], [...picker.files]);
    picker.click();
  };
  document.body.append(dialog);
  dialog.showModal();
  show();
  return result;
}
