// The note that says that this is a demo, on every page.

const bold = (text) => Object.assign(document.createElement("b"), { textContent: text });

/** Fills the page's slot for the note. `controlURL` is the page on which failures can be switched on. */
export function showDemoNote(controlURL) {
  const slot = document.getElementById("demo");
  const tag = Object.assign(document.createElement("span"), { className: "tag", textContent: "Demo" });
  slot.append(tag, "No real account. Choose ", bold("adele@contoso.example"), ", password ", bold("demo"), ".");
  if (controlURL) {
    slot.append(" ", Object.assign(document.createElement("a"), { href: controlURL, textContent: "Make it fail on purpose" }));
  }
  slot.hidden = false;
}
