// Explains a pasted error in the page: nothing that is pasted leaves it.

import { element, t } from "./page.js";
import { errorCards, loadExplanations } from "./error-cards.js";

const paste = document.getElementById("paste");
const place = document.getElementById("found");

function explain() {
  if (!paste.value.trim()) return place.replaceChildren();
  const cards = errorCards(paste.value);
  place.replaceChildren(...(cards.length > 0 ? cards : [element("section", "card", element("p", "", t("explain.nothing")))]));
}

await loadExplanations();
// Another page of this product links to the explanation of a number.
paste.value ||= /^#((?:AADSTS|AADB2C)\d{4,8})$/.exec(location.hash)?.[1] ?? "";
paste.addEventListener("input", explain);
explain();
