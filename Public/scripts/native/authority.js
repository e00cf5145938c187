// MSAL's verdict on an authority: in a sentence for a field, and whole for the paste box.

import { authorityClass } from "../base/project.js";
import { judgeAuthority, kindOf } from "../base/values.js";
import { t } from "../base/page.js";

/** A sentence that says by its rule what is known of an authority. */
export const sentence = ({ rule, level: _level, kind, cloud, ...values }) =>
  t(`authority.rule.${rule}`, {
    ...values,
    ...(kind && { kind: t(`authority.kind.${kind}`) }),
    ...(cloud && { cloud: t(`authority.cloud.${cloud}`) }),
  });

/** Forms that MSAL accepts and no document has: they are not simply fine. */
const doubts = ["tfp_place", "policy_order", "policy_name", "rest_b2c", "ciam_alias", "ciam_cloud", "cloud_domain"];

/** The decisive sentence about an authority, with its level: what is wrong with it, what to check, or that nothing is, and its cloud. */
export function verdict(text, kind) {
  const { isSound, found } = judgeAuthority(text, kind);
  const wrong = found.find(({ level }) => level === "bad");
  if (wrong) return { level: "bad", isSound, text: sentence(wrong) };
  const doubt = found.find(({ rule }) => doubts.includes(rule));
  if (doubt) return { level: "info", isSound, text: sentence(doubt) };
  const cloud = found.filter(({ rule }) => rule === "cloud" || rule === "cloud_own");
  return { level: "fine", isSound, text: [t("authority.taken", { type: authorityClass[kind] }), ...cloud.map(sentence)].join(" ") };
}

/** The kind of tenant that an authority most likely belongs to: by its host or, of a host that nobody knows, by its path. */
function likelyKind(text) {
  const url = URL.canParse(text) ? new URL(text) : null;
  return (url && kindOf(url.hostname)) ?? (/^\/(?:tfp\/|[^/]+\/(?:tfp\/)?b2c_1)/i.test(url?.pathname) ? "b2c" : "workforce");
}

/** All there is to know about an authority of any kind: the verdict, sentences with their level, and what MSAL asks before its page opens. */
export function judgment(text) {
  const kind = likelyKind(text);
  const { isAccepted, isSound, found, requests } = judgeAuthority(text, kind);
  const has = (isOne) => found.some(({ rule }) => isOne(rule));
  const [level, key] = !isAccepted
    ? ["bad", "refused"]
    : !isSound
    ? ["bad", "cannot_work"]
    : has((rule) => doubts.includes(rule))
    ? ["info", "taken_to_check"]
    : has((rule) => rule.startsWith("known"))
    ? ["info", "taken_if_known"]
    : ["fine", "taken"];
  return {
    level,
    said: t(`authority.${key}`, { type: authorityClass[kind] }),
    sentences: found.map((each) => [each.level, sentence(each)]),
    requests,
  };
}
