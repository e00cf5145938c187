// The note that says that this is a demo, on every page.

const bold = (text) => Object.assign(document.createElement("b"), { textContent: text });

const accounts = { external: "customer@fabrikam.example", b2c: "b2cuser@fabrikamb2c.example" };

/**
 * Fills the page's slot for the note. `controlURL` is the page on which failures can be switched on; `kind` is the kind of
 * tenant, which decides who can sign in there.
 */
export function showDemoNote({ controlURL, kind } = {}) {
  const slot = document.getElementById("demo");
  const tag = Object.assign(document.createElement("span"), { className: "tag", textContent: "Demo" });
  const text = document.createElement("span");
  text.className = "long";
  text.append("No real account. Choose ", bold(accounts[kind] ?? "adele@contoso.example"), ", ");
  slot.append(tag, text, "password ", bold("demo"), ".");
  if (controlURL) {
    slot.append(" ", Object.assign(document.createElement("a"), { href: controlURL, textContent: "Make it fail on purpose" }));
  }
  slot.hidden = false;
}
