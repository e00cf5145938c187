// An application's own token, for operators: what it says, and one call with it.

import { app, post } from "../base/api.js";
import { element, t } from "../base/page.js";
import { foldedTree, purpose } from "./json.js";
import { button, dateTime, facts, milliseconds, run, statusBox } from "./parts.js";

const calls = ["none", "application", "service_principal", "organization"];

function answer({ status, request_id: id, ms, body }) {
  return [
    facts([[t("portal.status"), element("strong", status < 400 ? "good" : "bad", String(status))], [t("portal.request_id"), id], [
      t("portal.measured"),
      milliseconds(ms),
    ]]),
    ...(body == null ? [] : [foldedTree(t("portal.app_only.answer"), body)]),
  ];
}

function shown({ authority, roles, expires_on: expires, header, payload, answer: came }) {
  return [
    facts([
      [t("portal.authority"), authority],
      [t("portal.app_only.roles"), roles.join(", ") || t("portal.app_only.no_roles")],
      [t("portal.app_only.expires"), dateTime(expires * 1000)],
    ]),
    ...(payload ? [purpose("access", header), foldedTree(t("portal.app_only.decoded"), { header, payload }, "access")] : []),
    ...(came ? answer(came) : []),
  ];
}

function labelled(name, select) {
  select.id = `app-only-${name}`;
  return element("p", "", Object.assign(element("label", "", t(`portal.app_only.${name}`)), { htmlFor: select.id }), select);
}

/** The section of an application that may have tokens of its own. */
export function appOnly({ id, app_only: isAllowed }) {
  if (!isAllowed) return [];
  const box = statusBox();
  const result = element("div");
  const call = element("select");
  call.append(...calls.map((name) => new Option(t(`portal.app_only.call.${name}`), name)));
  const press = (pressed) =>
    run(pressed, box, async () => {
      result.replaceChildren();
      const body = { application: id, ...(call.value === "none" ? {} : { call: call.value }) };
      result.replaceChildren(...shown(await post(`/api/${app}/app-only`, body)));
    });
  return [
    element("h3", "", t("portal.app_only.title")),
    element("p", "quiet", t("portal.app_only.note")),
    element("div", "fields", labelled("call", call)),
    element("p", "buttons", button(t("portal.app_only.go"), press)),
    box,
    result,
  ];
}
