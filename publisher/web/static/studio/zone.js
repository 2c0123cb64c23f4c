// Fills an empty time zone with the one that the browser is in.
const field = document.querySelector("[data-browser-zone]");
if (field && !field.value) {
  field.value = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
}
