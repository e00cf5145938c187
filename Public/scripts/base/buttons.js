// Buttons.

import { copyWith, element } from "./page.js";

export function button(label, onPress, className = "small") {
  const made = Object.assign(element("button", className, label, element("span", "spinner")), { type: "button" });
  made.addEventListener("click", () => onPress(made));
  return made;
}

/** Tells a screen reader what a press has brought. */
export const announce = (text) => (document.getElementById("said").textContent = text);

/** Copies a text, says so on the button, and tells a screen reader. */
export const copy = async (pressed, text) => announce(await copyWith(pressed, text));

export const copyButton = (label, text) => button(label, (pressed) => copy(pressed, text()));
