// The answer of the chosen application's API: status, timing, the body as a tree and as text, headers.

import { fetchAPI } from "./api.js";
import { element, t } from "./page.js";
import { callForm } from "./portal-call.js";
import { tree } from "./portal-json.js";
import { button, copyButton, facts, folded, milliseconds, run, statusBox, table } from "./portal-parts.js";

async function call(id) {
  const began = performance.now();
  const answer = await fetchAPI(id);
  return { ...answer, took: performance.now() - began };
}

/** The parts of a Server-Timing header, as [name, duration]. */
function serverTiming(value) {
  return [...(value ?? "").matchAll(/([\w-]+)[^,]*?;\s*dur=([\d.]+)/g)].map(([, name, duration]) => [`Server-Timing: ${name}`, milliseconds(Number(duration))]);
}

function answer({ response: { headers, ok, status, statusText }, text, took }) {
  const rows = [...headers].map(([name, value]) => [element("code", "", name), element("span", "mono", value)]);
  let body;
  try {
    body = folded(t("portal.as_tree"), true, tree(JSON.parse(text)));
  } catch {
    body = element("p", "quiet", t("portal.not_json"));
  }
  return [
    facts([
      [t("portal.status"), element("strong", ok ? "good" : "bad", `${[status, statusText].filter(Boolean).join(" ")} · ${ok ? t("portal.succeeded") : t("portal.refused")}`)],
      [t("portal.request_id"), headers.get("request-id")],
      [t("portal.measured"), milliseconds(took)],
      ...serverTiming(headers.get("server-timing")),
    ]),
    body,
    folded(t("portal.as_text"), false, element("pre", "", text), copyButton(t("portal.copy"), () => text)),
    folded(t("portal.headers"), false, table([t("portal.header"), t("claims.value")], rows)),
  ];
}

export async function view({ application, apis }) {
  const box = statusBox();
  const result = element("div", "", element("p", "quiet", t("portal.not_called")));
  const press = (pressed) => run(pressed, box, async () => {
    try {
      result.replaceChildren(...answer(await call(application.id)));
    } catch (failure) {
      result.replaceChildren();
      throw failure;
    }
  });
  return [element("p", "buttons", button(t("portal.call_api"), press)), box, result, ...callForm({ application, apis })];
}
