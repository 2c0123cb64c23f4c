// The list of posts needs a script for the countdown only.

import { bindUndo } from "./undo.js";

bindUndo();
