// The findings of the file check, on the page for it and in the paste box.

import { element, t } from "./page.js";
import { lint } from "./lint-rules.js";
import { blockCard } from "./native-setup.js";
import { PlistFault } from "./plist.js";

/** One finding; the level is bad, info or fine. */
export const finding = (level, text) => element("div", `finding ${level}`, element("strong", "", t(`lint.level.${level}`)), element("p", "", text));

/** The demo's mission about the keychain is waiting for a file that lacks the group, and then for one that has it. */
const missionKey = "mission:keychain";

function noteForMission(file, found) {
  if (file !== "entitlements" || !localStorage.getItem(missionKey)) return;
  const bad = found.filter(({ level }) => level === "bad");
  if (bad.some(({ key }) => key === "keychain-access-groups")) localStorage.setItem(missionKey, "missing");
  else if (bad.length === 0 && localStorage.getItem(missionKey) === "missing") localStorage.setItem(missionKey, "right");
}

/** Returns { findings, corrected }: elements, of which `corrected` is the block of the corrected file, undefined where there is none. */
export function lintCards(text, wanted) {
  try {
    const { file, found, text: corrected } = lint(text, wanted);
    noteForMission(file, found);
    const name = t(`lint.file.${file}`);
    if (found.length === 0) return { findings: [finding("fine", t("lint.fine", { file: name }))] };
    return {
      findings: found.map(({ level, rule, ...values }) => finding(level, t(`lint.rule.${rule}`, values))),
      corrected: found.some(({ level }) => level === "bad") ? blockCard({ title: t("lint.corrected"), note: t("lint.corrected_note"), file: name, text: corrected }) : undefined,
    };
  } catch (fault) {
    if (!(fault instanceof PlistFault)) throw fault;
    return { findings: [finding("bad", t(`lint.fault.${fault.kind}`, { detail: fault.message }))] };
  }
}
