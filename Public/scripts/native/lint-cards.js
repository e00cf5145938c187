// The findings of the file check, on the page for it and in the paste box.

import { element, ofBrowser, t } from "../base/page.js";
import { lint } from "./lint-rules.js";
import { blockCard } from "./setup.js";
import { PlistFault } from "./plist.js";

/** One finding; the level is bad, info or fine. */
export const finding = (level, text) =>
  element("div", `finding ${level}`, element("strong", "", t(`lint.level.${level}`)), element("p", "", text));

/** The demo's mission about the keychain is waiting for a file that lacks the group, and then for one that has it. */
const missionKey = "mission:keychain";

function noteForMission(file, found) {
  if (file !== "entitlements" || !ofBrowser.get(missionKey)) return;
  const lacks = found.some(({ level, key }) => level === "bad" && key === "keychain-access-groups");
  const isRight = !found.some(({ level }) => level === "bad");
  if (lacks) ofBrowser.set(missionKey, "missing");
  else if (isRight && ofBrowser.get(missionKey) === "missing") ofBrowser.set(missionKey, "right");
}

/** Returns { findings, corrected }: elements, of which `corrected` is the block of the corrected file, undefined where there is none. */
export function lintCards(text, wanted) {
  try {
    const { file, forms, found, text: corrected } = lint(text, wanted);
    const isChecked = file === "info" || file === "entitlements";
    const name = isChecked ? t(`lint.file.${file}`) : "";
    const said = [...forms, ...(isChecked ? [] : [file])].map((each) => finding("info", t(`lint.form.${each}`)));
    const rules = found.map(({ level, rule, ...values }) => finding(level, t(`lint.rule.${rule}`, values)));
    const fine = isChecked && found.length === 0 ? [finding("fine", t("lint.fine", { file: name }))] : [];
    noteForMission(file, found);
    return {
      findings: [...said, ...rules, ...fine],
      corrected: corrected && blockCard({ title: t("lint.corrected"), note: t("lint.corrected_note"), file: name, text: corrected }),
    };
  } catch (fault) {
    const kind = fault instanceof PlistFault ? fault.kind : "unread";
    return { findings: [finding("bad", t(`lint.fault.${kind}`, { detail: fault.message }))] };
  }
}
