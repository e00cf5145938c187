// Why an interactive sign-in failed, from the code with which the server came back.

import { loadTexts, t } from "./strings.js";

/** Codes that say the same to the person as another one. */
const alike = {
  provider_rejected_request: "provider_rejected_client",
  provider_metadata_invalid: "provider_rejected_client",
  issuer_mismatch: "invalid_id_token",
  nonce_mismatch: "invalid_id_token",
};

/** Why an interactive sign-in failed, as a sentence; the page has the texts already. */
export const signInError = (code) => t(`sign_in.${alike[code] ?? code}`) || t("sign_in.unknown");

/** A failed interactive sign-in, from the code and correlation id with which the server came back. */
export async function explainSignIn(code, correlationID) {
  await loadTexts("sign_in");
  const known = /^[a-z0-9_]{1,64}$/.test(code) ? code : "unknown";
  const ids = [known];
  if (/^[0-9A-Za-z-]{1,64}$/.test(correlationID ?? "")) ids.push(t("api.correlation_id", { id: correlationID }));
  return `${signInError(known)} (${ids.join(", ")})`;
}
