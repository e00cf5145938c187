// An attempt is opened as a case, on the page that copies its link.

import { get } from "./api.js";
import { caseOf, fragment } from "./case.js";
import { base } from "./page.js";

/** Opens an attempt at an application of this kind. */
export async function openCase(attempt, kind) {
  const claims = attempt.outcome === "ok" ? await get(`/api/${attempt.app}/claims`).catch(() => ({})) : {};
  location.assign(`${base}/native/case${fragment(caseOf(attempt, kind, claims))}`);
}
