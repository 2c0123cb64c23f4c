// The knob "fresher or quieter" as a slider over its few positions. The radio buttons, which it hides,
// stay the form's field: they are what is sent and what is kept.
const knob = document.querySelector("[data-knob]");
const field = knob.closest("fieldset"), range = knob.querySelector("input");
const choices = [...field.querySelectorAll("[type=radio]")];

function show() {
  const at = Math.max(0, choices.findIndex(({ checked }) => checked)), chosen = choices[at];
  range.value = at;
  range.setAttribute("aria-valuetext", chosen.labels[0].textContent.trim());
  for (const place of knob.querySelectorAll("[data-show]")) {
    place.textContent = chosen.dataset[place.dataset.show];
  }
}

if (choices.length > 1) {
  range.addEventListener("input", () => (choices[range.value].checked = true));
  field.form.addEventListener("input", show);
  field.querySelector(".choices").hidden = true;
  knob.hidden = false;
  show();
}
