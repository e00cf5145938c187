// Shows what the demo tenant has from the platform: every fact with its source, and the reason of each difference.

import "../base/common.js";
import { element, t } from "../base/page.js";

const facts = await (await fetch(new URL("../../data/truth.json", import.meta.url))).json();

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
  return [element("h2", "", answer), card];
}

const count = (is) => facts.filter(is).length;
document.getElementById("counts").textContent = t("truth.counts", {
  same: count((fact) => !reason(fact)),
  differing: count((fact) => fact.on_purpose),
  still: count((fact) => fact.not_yet),
  absent: count((fact) => fact.not_applicable),
});
document.getElementById("facts").replaceChildren(...[...new Set(facts.map((fact) => fact.answer))].flatMap(table));
