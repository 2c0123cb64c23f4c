// Lists of posts: the countdown. The list of unsaved texts also gets what closed tabs have left in
// this browser.

import { collect } from "./autosave.js";
import { bindUndo } from "./undo.js";

bindUndo();
const form = document.querySelector("form[data-left]");
if (form) collect(form);
