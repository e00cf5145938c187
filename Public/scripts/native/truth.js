// Shows what the demo tenant has from the platform: every fact with its source, and the reason of each difference.

import "../base/common.js";
import { element, t } from "../base/page.js";

const facts = await (await fetch(new URL("../../data/truth.json", import.meta.url))).json();

const heads = () =>
  ["fact", "here", "source"].map((name) =>
    Object.assign(element("th", "", t(`truth.${name}`)), { scope: "col", lang: document.documentElement.lang })
  );

function row(fact) {
  const same = Object.assign(element("strong", "good", `✓ ${t("truth.same")}`), { lang: document.documentElement.lang });
  const cells = [
    [fact.fact, "fact"],
    [fact.on_purpose ?? same, "here"],
    [`${fact.source} (${fact.certainty})`, "source"],
  ];
  const shown = cells.map(([content, name]) => {
    const cell = element(name === "fact" ? "th" : "td", "", content);
    if (name === "fact") cell.scope = "row";
    else cell.dataset.title = t(`truth.${name}`);
    return cell;
  });
  const line = element("tr", fact.on_purpose ? "differs" : "same", ...shown);
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

const differing = facts.filter((fact) => fact.on_purpose).length;
document.getElementById("counts").textContent = t("truth.counts", { same: facts.length - differing, differing });
document.getElementById("facts").replaceChildren(...[...new Set(facts.map((fact) => fact.answer))].flatMap(table));
