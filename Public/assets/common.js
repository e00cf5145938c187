// What every page has: the choice of the language, and a note while the device is offline.

import "./language-menu.js";
import { t } from "./strings.js";

const note = document.createElement("p");
note.className = "offline";
note.setAttribute("role", "status");
document.body.prepend(note);

const tell = () => (note.textContent = navigator.onLine ? "" : t("common.offline"));

addEventListener("online", tell);
addEventListener("offline", tell);
tell();
