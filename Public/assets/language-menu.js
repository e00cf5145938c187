// The choice of the language, at the foot of every page.

import { post } from "./api.js";
import { language, t } from "./strings.js";

const languages = {
  en: "English",
  "pt-PT": "Português (Portugal)",
  "pt-BR": "Português (Brasil)",
  sv: "Svenska",
  ja: "日本語",
  "zh-Hans": "简体中文",
};

const menu = document.createElement("select");
menu.id = "language-choice";
for (const [tag, name] of Object.entries(languages)) {
  const option = new Option(name, tag, tag === language, tag === language);
  option.lang = tag;
  menu.append(option);
}
menu.append(new Option(t("common.language_browser"), ""));

const label = document.createElement("label");
label.htmlFor = menu.id;
label.textContent = t("common.language");

const note = document.createElement("span");
note.setAttribute("role", "status");

menu.addEventListener("change", async () => {
  note.textContent = "";
  try {
    await post("/api/language", { language: menu.value || null });
    location.reload();
  } catch (failure) {
    menu.value = language;
    note.textContent = failure.message;
  }
});

document.getElementById("language").append(label, menu, note);
