// The looks to choose from show the title as it is typed; beside the controls of the look, the blog
// itself is shown as it would become.
import { bindPicture } from "./picture_field.js";

const title = document.querySelector("input[name=title]");
title?.addEventListener("input", () => {
  for (const shown of document.querySelectorAll("[data-look-title]")) shown.textContent = title.value || "Your blog";
});

const frame = document.querySelector("[data-try]");
if (frame) {
  for (const place of document.querySelectorAll("[data-picture-field]")) {
    bindPicture(place, (file) => {
      const gone = place.querySelector("[name=no_picture]");
      if (gone) gone.checked = !file;
    });
  }
  const form = frame.closest("form"), tried = ["look", "accent", "home", "logo_shape"];
  let timer;
  const show = () => {
    const values = new URLSearchParams(tried.map((name) => [name, form.elements[name]?.value ?? ""]));
    if (!form.elements.own_accent.checked) values.set("accent", "");
    frame.contentWindow.location.replace(`${frame.dataset.try}?${values}`); // no step for Back
  };
  form.addEventListener("input", (event) => {
    if (event.target.name === "accent") form.elements.own_accent.checked = true;
    clearTimeout(timer);
    timer = setTimeout(show, 250);
  });
}
