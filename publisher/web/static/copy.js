// Buttons that copy the field they name; they stay hidden without a script or a clipboard.
"use strict";
for (const button of document.querySelectorAll("[data-copy]")) {
  const field = document.getElementById(button.dataset.copy);
  field.addEventListener("focus", () => field.select());
  button.hidden = false;
  button.ariaLive = "polite"; // "Copied" is said, too
  button.addEventListener("click", async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
    } catch {
      document.execCommand("copy"); // no TLS, as in a house of one's own: browsers hide the other way
    }
    button.focus(); // selecting took it away, among the files to a field that is not seen
    const label = button.firstChild;
    const before = label.data;
    label.data = button.dataset.copied;
    setTimeout(() => { label.data = before; }, 2000);
  });
}
