// What MSAL asks of the authority that is typed, and whether it takes it.

import { authorityClass, judgeAuthority } from "./authority-rules.js";
import { element, t } from "./page.js";

/** The decisive sentence about an authority: what is wrong with it, or that nothing is. */
export function verdict(text, kind) {
  const { isAccepted, found } = judgeAuthority(text, kind);
  const worst = found.find(({ level }) => level === "bad");
  return { isAccepted, text: worst ? sentence(worst) : t("setup.authority_taken", { type: authorityClass[kind] }) };
}

const sentence = ({ rule, level, ...values }) => t(`setup.authority.${rule}`, { ...values, ...(values.kind && { kind: t(`setup.kind.${values.kind}`) }) });

const input = Object.assign(element("input", "mono"), { id: "any-authority", autocomplete: "off", spellcheck: false });
input.setAttribute("autocapitalize", "none");
const answer = element("div", "answer");
answer.setAttribute("role", "status");
let kind = "workforce";
let isTyped = false;

function judge() {
  const typed = input.value.trim();
  if (!typed) return answer.replaceChildren();
  const { isAccepted, found, requests } = judgeAuthority(typed, kind);
  const type = authorityClass[kind];
  const said = isAccepted ? t("setup.authority_taken", { type }) : t("setup.authority_refused", { type });
  const finding = (level, ...content) => element("div", `finding ${level}`, ...content);
  const head = finding(isAccepted ? "fine" : "bad", element("strong", "", said));
  const asked = element("ol", "asked", ...requests.map((url) => element("li", "mono", url)));
  answer.replaceChildren(head, ...found.map((each) => finding(each.level, element("p", "", sentence(each)))), ...(isAccepted ? [element("p", "note", t("setup.authority_asks")), asked] : []));
}

input.addEventListener("input", () => {
  isTyped = input.value.trim() !== "";
  judge();
});

const label = Object.assign(element("label", "", t("setup.authority_any")), { htmlFor: input.id });
const box = element("div", "fields", element("p", "note", t("setup.authority_note")), element("p", "", label, input), answer);

/** The field for any authority; it has the app's own until something else is typed. */
export function authorityBox(values) {
  kind = values.kind;
  if (!isTyped) input.value = values.authority;
  judge();
  return box;
}
