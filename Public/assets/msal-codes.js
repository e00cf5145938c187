// What MSAL calls an error of ours: the code of MSALErrorDomain, and under an internal error the one of MSALInternalErrorCodeKey.
// From MSALError.h, https://github.com/AzureAD/microsoft-authentication-library-for-objc/blob/dev/MSAL/src/public/MSALError.h

const interactionRequired = [-50002, "MSALErrorInteractionRequired"];
const userCanceled = [-50005, "MSALErrorUserCanceled"];
const internal = (code, name) => [-50000, "MSALErrorInternal", code, name];

const codes = {
  interaction_required: interactionRequired,
  consent_required: interactionRequired,
  session_expired: interactionRequired,
  cancelled: userCanceled,
  access_denied: userCanceled,
  server_error: [-50006, "MSALErrorServerError"],
  provider_unavailable: internal(-42007, "MSALInternalErrorUnhandledResponse"),
  provider_rejected_request: internal(-42002, "MSALInternalErrorInvalidRequest"),
  provider_rejected_client: internal(-42003, "MSALInternalErrorInvalidClient"),
  provider_metadata_invalid: internal(-42010, "MSALInternalErrorFailedAuthorityValidation"),
  issuer_mismatch: internal(-42010, "MSALInternalErrorFailedAuthorityValidation"),
  admin_consent_required: internal(-42104, "MSALInternalErrorAuthorizationFailed"),
  other_account: internal(-42101, "MSALInternalErrorMismatchedUser"),
  state_mismatch: internal(-42501, "MSALInternalErrorInvalidState"),
  invalid_id_token: internal(-42600, "MSALInternalErrorInvalidResponse"),
  nonce_mismatch: internal(-42600, "MSALInternalErrorInvalidResponse"),
};

const signed = (number) => String(number).replace("-", "−");

/** As `MSALErrorDomain −50002 (MSALErrorInteractionRequired)`; null for what MSAL has no error for. */
export function msalError(code) {
  if (!Object.hasOwn(codes, code)) return null;
  const [number, name, inner, innerName] = codes[code];
  return `MSALErrorDomain ${signed(number)} (${name}${inner ? `, ${signed(inner)} ${innerName}` : ""})`;
}
