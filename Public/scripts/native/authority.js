// MSAL's verdict on an authority: in a sentence for a field, and whole for the paste box.

import { authorityClass, judgeAuthority, kindOf } from "../base/authority-rules.js";
import { t } from "../base/page.js";

const sentence = ({ rule, level: _level, ...values }) =>
  t(`authority.rule.${rule}`, { ...values, ...(values.kind && { kind: t(`authority.kind.${values.kind}`) }) });

/** The decisive sentence about an authority: what is wrong with it, or that nothing is. */
export function verdict(text, kind) {
  const { isAccepted, found } = judgeAuthority(text, kind);
  const worst = found.find(({ level }) => level === "bad");
  return { isAccepted, text: worst ? sentence(worst) : t("authority.taken", { type: authorityClass[kind] }) };
}

/** The kind of tenant that an authority most likely belongs to: by its host or, of a host that nobody knows, by its path. */
function likelyKind(text) {
  const url = URL.canParse(text) ? new URL(text) : null;
  return (url && kindOf(url.hostname)) ?? (/^\/(?:tfp\/|[^/]+\/b2c_1)/i.test(url?.pathname) ? "b2c" : "workforce");
}

/** All there is to know about an authority of any kind: the verdict, sentences with their level, and what MSAL asks before its page opens. */
export function judgment(text) {
  const kind = likelyKind(text);
  const type = authorityClass[kind];
  const { isAccepted, found, requests } = judgeAuthority(text, kind);
  const hasToBeKnown = found.some(({ rule }) => rule.startsWith("known"));
  const said = !isAccepted
    ? t("authority.refused", { type })
    : hasToBeKnown
    ? t("authority.taken_if_known", { type })
    : t("authority.taken", { type });
  return {
    level: !isAccepted ? "bad" : hasToBeKnown ? "info" : "fine",
    said,
    sentences: found.map((each) => [each.level, sentence(each)]),
    requests,
  };
}
