// A form's picture or sound, shown as what it is: chosen from the library, uploaded, dropped or pasted
// instead of typed. The field below it stays what is sent.

import { upload } from "./form.js";

const PICTURE = /^\s*(?:!\[((?:\\.|[^\]\\])*)\]\(\s*<?|<img\b[^>]*?\ssrc=["']?)([^\s<>"')]+)/;
const choose = async (kind) => (await import("./chooser.js")).choose({ kind });
const button = (textContent, onclick, className = "") =>
  Object.assign(document.createElement("button"), { type: "button", textContent, onclick, className });

// `place` has the input of an address, perhaps one for a file and a tick that removes it. `taken(file)`
// is told what was chosen, or null.
export function bindPicture(place, taken = () => {}) {
  const form = place.closest("form");
  const input = place.querySelector("[data-address]");
  const label = place.querySelector("label, .label").textContent;
  const status = Object.assign(document.createElement("p"), { className: "small", role: "status" });
  const image = Object.assign(document.createElement("img"), { className: "shown-picture", alt: "" });
  const pick = button("", async () => {
    const { picked: [known], files: [file] } = await choose("image");
    if (known) set(known);
    else if (file) send(file);
  });
  const gone = button("Remove", () => {
    set(null);
    pick.focus();
  }, "plain");
  gone.ariaLabel = `Remove: ${label}`;
  const row = Object.assign(document.createElement("div"), { className: "row" });
  row.append(image, pick, gone);
  place.querySelector("[data-plain]")?.setAttribute("hidden", "");
  place.querySelector("label, .label").after(row, status);

  function show() {
    const address = input.value || input.dataset.now || "";
    image.hidden = gone.hidden = !address;
    if (address && image.getAttribute("src") !== address) image.src = address;
    pick.textContent = address ? "Choose another" : "Choose a picture";
    pick.ariaLabel = `${pick.textContent}: ${label}`;
    input.hidden = Boolean(address) && input !== document.activeElement && input.ariaInvalid !== "true";
  }

  function set(file) {
    status.textContent = "";
    input.value = file?.url ?? "";
    if (!file) input.dataset.now = "";
    taken(file);
    show();
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }

  async function send(file) {
    status.textContent = `Adding ${file.name} …`;
    const { told, problem } = await upload(form, file);
    if (told?.markdown.match(PICTURE)) return set(told);
    status.textContent = `${file.name} was not added: ${problem ?? "it is not a picture"}.`;
    return undefined;
  }

  const from = (event, carried) => {
    const [file] = carried?.files ?? [];
    if (!file || carried.getData("text/plain")) return;
    event.preventDefault();
    send(file);
  };
  place.addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  });
  place.addEventListener("drop", (event) => from(event, event.dataTransfer));
  place.addEventListener("paste", (event) => from(event, event.clipboardData));
  input.addEventListener("input", () => {
    const found = PICTURE.exec(input.value);
    if (found) set({ url: found[2], alt: (found[1] ?? "").replace(/\\(.)/g, "$1") });
  });
  input.addEventListener("change", () => setTimeout(show)); // it has lost the focus then
  form.addEventListener("input", show);
  show();
}

// The sound of a post: `place` has its inputs folded away, for files on other servers.
export function bindSound(place) {
  const form = place.closest("form");
  const { enclosure_url: address, enclosure_bytes: bytes, enclosure_length: length } = form.elements;
  const player = Object.assign(document.createElement("audio"), { controls: true, preload: "none" });
  player.ariaLabel = "The audio of this post";
  const words = Object.assign(document.createElement("span"), { className: "quiet small", role: "status" });
  const fill = (inputs) => {
    for (const [name, value] of Object.entries(inputs)) form.elements[name].value = value;
    show();
    form.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const pick = button("", () => ask());
  const ask = async () => {
    const { picked: [known], files: [file] } = await choose("audio");
    if (!known && !file) return;
    words.textContent = `Adding ${known?.name ?? file.name} …`;
    const { told, problem } = known ? await inputsOf(known) : await upload(form, file);
    if (told?.inputs.enclosure_url) fill(told.inputs);
    else words.textContent = `It was not added: ${problem ?? "it is no audio file"}.`;
  };
  const gone = button("Remove", () => {
    fill({ enclosure_url: "", enclosure_type: "", enclosure_bytes: "", enclosure_length: "" });
    pick.focus();
  }, "plain");
  gone.ariaLabel = "Remove the audio";
  const row = Object.assign(document.createElement("div"), { className: "row" });
  row.append(player, pick, gone, words);
  place.querySelector(".label").after(row);

  function show() {
    const there = address.value.trim();
    player.hidden = gone.hidden = !there;
    if (there && player.getAttribute("src") !== there) player.src = there;
    pick.textContent = there ? "Choose another" : "Choose or add audio";
    const size = Number(bytes.value) ? `${(Number(bytes.value) / 1e6).toFixed(1)} MB` : "";
    words.textContent = there && [length.value, size].filter(Boolean).join(", ");
  }
  form.addEventListener("input", show);
  show();
  return ask;
}

async function inputsOf(file) {
  const answer = await fetch(`/studio/media/${file.id}/inputs`).catch(() => undefined);
  return answer?.ok ? { told: await answer.json() } : { problem: "no connection" };
}
