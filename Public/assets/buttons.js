// Buttons.

import { element, t } from "./page.js";

export function button(label, onPress, className = "small") {
  const made = Object.assign(element("button", className, label, element("span", "spinner")), { type: "button" });
  made.addEventListener("click", () => onPress(made));
  return made;
}

/** Tells a screen reader what a press has brought. */
export const announce = (text) => (document.getElementById("said").textContent = text);

/** Copies the text and says so on the button for a moment. */
export async function copy(pressed, text) {
  const label = (pressed.dataset.label ??= pressed.firstChild.textContent);
  const said = await navigator.clipboard.writeText(text).then(() => t("common.copied"), () => t("common.not_copied"));
  pressed.firstChild.textContent = said;
  announce(said);
  setTimeout(() => (pressed.firstChild.textContent = label), 1500);
}

export const copyButton = (label, text) => button(label, (pressed) => copy(pressed, text()));
