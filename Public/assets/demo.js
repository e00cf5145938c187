// The note that says that this is a demo, on every page.

import { t, withElements } from "./strings.js";

const bold = (text) => Object.assign(document.createElement("b"), { textContent: text });

const accounts = { external: "customer@fabrikam.example", b2c: "b2cuser@fabrikamb2c.example" };

/**
 * Fills the page's slot for the note. `controlURL` is the page on which failures can be switched on; `kind` is the kind of
 * tenant, which decides who can sign in there.
 */
export function showDemoNote({ controlURL, kind } = {}) {
  const slot = document.getElementById("demo");
  const tag = Object.assign(document.createElement("span"), { className: "tag", textContent: t("common.demo") });
  const account = document.createElement("span");
  account.className = "long";
  account.append(...withElements(t("common.demo_account"), { account: bold(accounts[kind] ?? "adele@contoso.example") }), " ");
  slot.replaceChildren(tag, account, ...withElements(t("common.demo_password"), { password: bold("demo") }));
  if (controlURL) {
    slot.append(" ", Object.assign(document.createElement("a"), { href: controlURL, textContent: t("common.demo_control") }));
  }
  slot.hidden = false;
}
