// What the well-known claims of a token mean.

import { loadTexts, t } from "./strings.js";

/** To be called before the first explanation. */
export const loadClaimMeanings = () => loadTexts("claim");

/** A sentence about the claim of this name; empty when nothing is known of it. */
export const explainClaim = (name) => t(`claim.${name}`);
