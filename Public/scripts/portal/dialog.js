// A dialog: a question, or something to look at.

import { element, t } from "../base/page.js";
import { button } from "./parts.js";

/** Opens a dialog; returns whether it was closed by the button with the label `accept`. */
export function ask(title, content, accept) {
  const dialog = element("dialog");
  const close = (label, answer, className) => button(label, () => dialog.close(answer), className);
  const buttons = accept ? [close(t("portal.cancel"), "no"), close(accept, "yes", "small danger")] : [close(t("portal.close"), "no")];
  // Where there is nothing to decide, reading begins at the title.
  const heading = Object.assign(element("h2", "", title), { id: "dialog-title", tabIndex: -1, autofocus: !accept });
  dialog.append(heading, content, element("p", "buttons", ...buttons));
  dialog.setAttribute("aria-labelledby", "dialog-title");
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) =>
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    })
  );
}
