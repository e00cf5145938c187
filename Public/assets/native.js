// What a native app needs before MSAL works in it: the steps in the admin center, and what goes into the project.

import { element, t, withElements } from "./page.js";
import { blockCard, blocks, followForm, setup } from "./native-setup.js";

function steps(values) {
  const marked = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, () => element("b", "", value)]));
  const parts = (step) => withElements(t(`native.step.${step}`), marked).map((part) => (typeof part === "function" ? part() : part));
  const list = element("ol", "steps", ...setup.steps.map((step) => element("li", "", ...parts(step))));
  const head = element("h2", "", t("native.block.steps"));
  return element("section", "card", head, list);
}

followForm(({ platform, values, isComplete }) => {
  const cards = blocks(platform, values).map((block) => blockCard({ ...block, title: t(`native.block.${block.id}`), note: t(`native.note.${block.id}`) }, isComplete));
  document.getElementById("blocks").replaceChildren(steps(values), ...cards);
});
