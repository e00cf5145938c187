// Checks an Info.plist or an entitlements file against what the form says, in the page: nothing that is pasted leaves it.

import { element, t } from "./page.js";
import { lint } from "./lint-rules.js";
import { blockCard, followForm } from "./native-setup.js";
import { PlistFault } from "./plist.js";

const paste = document.getElementById("paste");
const findings = document.getElementById("findings");
const corrected = document.getElementById("corrected");
let wanted;

const finding = (level, text) => element("div", `finding ${level}`, element("strong", "", t(`lint.level.${level}`)), element("p", "", text));

function show(...content) {
  findings.hidden = content.length === 0;
  findings.replaceChildren(...content);
}

function check() {
  corrected.replaceChildren();
  if (!paste.value.trim()) return show();
  const title = element("h2", "", t("lint.findings"));
  if (!wanted.isComplete) return show(title, finding("info", t("lint.need_values")));
  try {
    const { file, found, text } = lint(paste.value, wanted);
    if (found.length === 0) return show(title, finding("fine", t("lint.fine", { file: t(`lint.file.${file}`) })));
    show(title, ...found.map(({ level, rule, ...values }) => finding(level, t(`lint.rule.${rule}`, values))));
    if (found.some(({ level }) => level === "bad")) corrected.append(blockCard({ title: t("lint.corrected"), note: t("lint.corrected_note"), file: t(`lint.file.${file}`), text }));
  } catch (fault) {
    if (!(fault instanceof PlistFault)) throw fault;
    show(title, finding("bad", t(`lint.fault.${fault.kind}`, { detail: fault.message })));
  }
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
