// The tutorials' statements that are out of date. A row without a first-hand source is not shown.

import { element, language, loadTexts, t } from "../base/page.js";
import { claims, numbers } from "./project.js";

const [{ facts }, dated] = await Promise.all([claims(), numbers(), loadTexts("dated")]);

/** A day, or a month where no day is known. */
const date = (text) =>
  new Date(text).toLocaleDateString(language, {
    year: "numeric",
    month: "short",
    ...(text.length > 7 && { day: "numeric" }),
    timeZone: "UTC",
  });
const out = (label, href) =>
  Object.assign(element("a", "out", label), { href, target: "_blank", rel: "noopener noreferrer", referrerPolicy: "no-referrer" });

/** Whether others can read what the row says: where it stands, and of which day or commit. */
const isSourced = ({ source }) => /^https:\/\//.test(source?.url ?? "") && /^(\d{4}-\d{2}(-\d{2})?|[0-9a-f]{7,40})$/.test(source.of ?? "");

/** The rows for the tutorial of a kind of tenant and a platform. */
export const datedRows = ({ kind, platform }) =>
  facts.filter((row) => row.tutorials && isSourced(row) && row.tutorials.includes(kind === "workforce" ? platform : kind));

function entry({ id, holds = id, said, since, source }) {
  const part = (name, ...content) => element("div", "", element("dt", "", t(`dated.${name}`)), element("dd", "", ...content));
  const of = source.of.includes("-") ? date(source.of) : source.of.slice(0, 7);
  return element(
    "li",
    "",
    element("h3", "", t(`dated.${id}.section`)),
    element(
      "dl",
      "",
      part("says", `${t(`dated.${id}.says`)} `, out(t("dated.of", { date: date(said.date) }), said.url)),
      part("holds", t(`dated.${holds}.holds`, dated)),
      part("since", /^\d{4}-/.test(since) ? date(since) : since),
      part("source", out(new URL(source.url).hostname, source.url), `, ${of}`),
    ),
  );
}

/** Fills the place with the table for an app with these values. */
export const fill = (place, values) =>
  place.replaceChildren(
    element("p", "note", t("dated.as_of", { ...dated, month: date(dated.msal_month) })),
    element("ul", "dated", ...datedRows(values).map(entry)),
  );
