// What the well-known claims of a token mean.

import { t } from "./strings.js";

/** A sentence about the claim of this name; empty when nothing is known of it. */
export const explainClaim = (name) => t(`claim.${name}`);
