// Checks an Info.plist or an entitlements file against what the form says, in the page: nothing that is pasted leaves it.

import { element, t } from "./page.js";
import { finding, lintCards } from "./lint-cards.js";
import { followForm } from "./native-setup.js";

const paste = document.getElementById("paste");
const findings = document.getElementById("findings");
const corrected = document.getElementById("corrected");
let wanted;

function show(...content) {
  findings.hidden = content.length === 0;
  findings.replaceChildren(...content);
}

function check() {
  corrected.replaceChildren();
  if (!paste.value.trim()) return show();
  const title = element("h2", "", t("lint.findings"));
  if (!wanted.hasIDs) return show(title, finding("info", t("lint.need_values")));
  const made = lintCards(paste.value, wanted);
  show(title, ...made.findings);
  if (made.corrected) corrected.append(made.corrected);
}

followForm((form) => {
  wanted = form;
  check();
});
paste.addEventListener("input", check);

// The explanation of an error links here with the bundle ID that the error names.
const given = new URLSearchParams(location.hash.slice(1)).get("bundle_id");
if (given) {
  const field = document.getElementById("bundle_id");
  field.value = given;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}
