// Shows what the demo tenant has from the platform: every fact with its source, and the reason of each difference.

import "../base/common.js";
import { element, loadJSON, t } from "../base/page.js";

const facts = await loadJSON(new URL("../../data/truth.json", import.meta.url));

const heads = () =>
  ["fact", "here", "source"].map((name) =>
    Object.assign(element("th", "", t(`truth.${name}`)), { scope: "col", lang: document.documentElement.lang })
  );

const reason = (fact) => fact.on_purpose ?? fact.not_yet ?? fact.not_applicable;

function row(fact) {
  const same = Object.assign(element("strong", "good", `✓ ${t("truth.same")}`), { lang: document.documentElement.lang });
  const cells = [
    [fact.fact, "fact"],
    [reason(fact) ?? same, "here"],
    [`${fact.source} (${fact.certainty})`, "source"],
  ];
  const shown = cells.map(([content, name]) => {
    const cell = element(name === "fact" ? "th" : "td", "", content);
    if (name === "fact") cell.scope = "row";
    else cell.dataset.title = t(`truth.${name}`);
    return cell;
  });
  const line = element("tr", reason(fact) ? "differs" : "same", ...shown);
  line.id = fact.id;
  return line;
}

function table(answer) {
  const rows = facts.filter((fact) => fact.answer === answer).map(row);
  const card = element(
    "div",
    "map card",
    element("table", "", element("thead", "", element("tr", "", ...heads())), element("tbody", "", ...rows)),
  );
  return [element("h3", "", answer), card];
}

// The areas, each with the names of its answers; an answer is in the first that fits.
/** @type {[string, RegExp][]} */
const areas = [
  ["Metadata and keys", /discovery|^keys|realm|registration/],
  ["Authorization, consent and sign-out", /^(authorize|B2C|admin consent|logout)/],
  ["Token endpoint: answers", /^token answer/],
  ["Token endpoint: refusals", /^token error/],
  ["Device code", /^device/],
  ["Native authentication", /^native/],
  ["Tokens", /token/],
  ["Graph and UserInfo", /^(Graph|userinfo)/],
];

function counted(some) {
  const count = (is) => some.filter(is).length;
  return t("truth.counts", {
    same: count((fact) => !reason(fact)),
    differing: count((fact) => fact.on_purpose),
    still: count((fact) => fact.not_yet),
    absent: count((fact) => fact.not_applicable),
  });
}

const area = (fact) => areas.findIndex(([, names]) => names.test(fact.answer));

function section(name, index) {
  const own = facts.filter((fact) => area(fact) === index);
  const link = Object.assign(element("a", "", name), { href: `#area-${index}`, lang: "en" });
  document.getElementById("areas").append(element("li", "", link, `: ${counted(own)}`));
  const head = Object.assign(element("h2", "", name), { id: `area-${index}` });
  return element("section", "", head, ...[...new Set(own.map((fact) => fact.answer))].flatMap(table));
}

document.getElementById("counts").textContent = counted(facts);
document.getElementById("facts").replaceChildren(...areas.map(([name], index) => section(name, index)));
