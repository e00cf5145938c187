// The error codes of MSAL for iOS and macOS, and the one that an app sees where this server reports a problem of its own.
//
// Source: MSAL/src/public/MSALError.h in AzureAD/microsoft-authentication-library-for-objc (enums MSALError and
// MSALInternalError). OAuth errors become these codes in MSIDErrorCodeForOAuthError (IdentityCore/src/MSIDError.m in
// AzureAD/microsoft-authentication-library-common-for-objc).

/** The domain of every error that MSAL makes itself. */
export const msalErrorDomain = "MSALErrorDomain";

/** The key under which an error of the code −50000 holds the internal one. */
export const msalInternalKey = "MSALInternalErrorCodeKey";

// By code: name, and which explanation fits. Where MSAL gives two names to one code, both stand here.
const table = new Map([
  [-50000, ["MSALErrorInternal", "internal"]],
  [-50001, ["MSALErrorWorkplaceJoinRequired", "device"]],
  [-50002, ["MSALErrorInteractionRequired", "interaction"]],
  [-50003, ["MSALErrorServerDeclinedScopes", "declined"]],
  [-50004, ["MSALErrorServerProtectionPoliciesRequired", "protection"]],
  [-50005, ["MSALErrorUserCanceled", "cancelled"]],
  [-50006, ["MSALErrorServerError", "server"]],
  [-50007, ["MSALErrorInsufficientDeviceStrength", "device"]],
  [-50008, ["MSALErrorMDMEnrollmentCompletedNeedsRetry", "enrolled"]],
  [-50142, ["MSALErrorServerInvalidRequestResetPasswordRequired / MSIDErrorServerInvalidRequestResetPasswordRequired", "reset"]],
  [-42000, ["MSALInternalErrorInvalidParameter", "parameter"]],
  [-42001, ["MSALInternalErrorRedirectSchemeNotRegistered", "scheme"]],
  [-42011, ["MSALInternalErrorInvalidRedirectURI", "redirect"]],
  [-42002, ["MSALInternalErrorInvalidRequest", "request"]],
  [-42003, ["MSALInternalErrorInvalidClient", "client"]],
  [-42004, ["MSALInternalErrorInvalidGrant", "grant"]],
  [-42005, ["MSALInternalErrorInvalidScope", "scope"]],
  [-42006, ["MSALInternalErrorUnauthorizedClient", "client"]],
  [-42007, ["MSALInternalErrorUnhandledResponse", "server"]],
  [-42008, ["MSALInternalErrorUnexpected", "unexpected"]],
  [-42009, ["MSALInternalErrorUnexpectedHttpResponse", "server"]],
  [-42010, ["MSALInternalErrorFailedAuthorityValidation", "authority"]],
  [-42101, ["MSALInternalErrorMismatchedUser", "other_user"]],
  [-42102, ["MSALInternalErrorAmbiguousAccount", "account"]],
  [-42104, ["MSALInternalErrorAuthorizationFailed", "authorization"]],
  [-42106, ["MSALInternalErrorAccountRequired", "account"]],
  [-42401, ["MSALInternalErrorSessionCanceled", "running"]],
  [-42402, ["MSALInternalErrorInteractiveSessionAlreadyRunning", "running"]],
  [-42403, ["MSALInternalErrorNoViewController", "view_controller"]],
  [-42404, ["MSALInternalErrorAttemptToOpenURLFromExtension", "extension"]],
  [-42405, ["MSALInternalErrorUINotSupportedInExtension", "extension"]],
  [-42501, ["MSALInternalErrorInvalidState", "response"]],
  [-42600, ["MSALInternalErrorInvalidResponse", "response"]],
  [-42602, ["MSALInternalErrorNonHttpsRedirect", "https"]],
  [-42700, ["MSALInternalErrorBrokerResponseNotReceived", "broker"]],
  [-42701, ["MSALInternalErrorBrokerNoResumeStateFound", "broker"]],
  [-42702, ["MSALInternalErrorBrokerBadResumeStateFound", "broker"]],
  [-42703, ["MSALInternalErrorBrokerMismatchedResumeState", "scheme"]],
  [-42704, ["MSALInternalErrorBrokerResponseHashMissing", "broker"]],
  [-42705, ["MSALInternalErrorBrokerCorruptedResponse", "broker"]],
  [-42706, ["MSALInternalErrorBrokerResponseDecryptionFailed", "broker"]],
  [-42707, ["MSALInternalErrorBrokerResponseHashMismatch", "broker"]],
  [-42708, ["MSALInternalErrorBrokerKeyFailedToCreate", "keychain"]],
  [-42709, ["MSALInternalErrorBrokerKeyNotFound", "keychain"]],
  [-42711, ["MSALInternalErrorBrokerUnknown", "broker"]],
  [-42712, ["MSALInternalErrorBrokerApplicationTokenWriteFailed", "keychain"]],
  [-42713, ["MSALInternalErrorBrokerApplicationTokenReadFailed", "keychain"]],
  [-42714, ["MSALInternalBrokerNotAvailable", "broker_missing"]],
  [-42715, ["MSALInternalErrorJITLinkServerConfirmationError", "device"]],
  [-42716, ["MSALInternalErrorJITLinkAcquireTokenError", "device"]],
  [-42717, ["MSALInternalErrorJITLinkTokenAcquiredWrongTenant", "device"]],
  [-42718, ["MSALInternalErrorJITLinkError", "device"]],
  [-42719, ["MSALInternalErrorJITComplianceCheckResultNotCompliant", "device"]],
  [-42720, ["MSALInternalErrorJITComplianceCheckResultTimeout", "device"]],
  [-42721, ["MSALInternalErrorJITComplianceCheckResultUnknown", "device"]],
  [-42722, ["MSALErrorJITComplianceCheckInvalidLinkPayload", "device"]],
  [-42723, ["MSALErrorJITComplianceCheckCreateController", "device"]],
  [-42724, ["MSALErrorJITLinkConfigNotFound", "device"]],
  [-42725, ["MSALErrorJITInvalidLinkTokenConfig", "device"]],
  [-42726, ["MSALErrorJITWPJDeviceRegistrationFailed", "device"]],
  [-42727, ["MSALErrorJITWPJAccountIdentifierNil", "device"]],
  [-42728, ["MSALErrorJITWPJAcquireTokenError", "device"]],
  [-42729, ["MSALErrorJITRetryRequired", "device"]],
  [-42730, ["MSALErrorJITUnknownStatusWebCP", "device"]],
  [-42731, ["MSALErrorJITTroubleshootingCreateController", "device"]],
  [-42732, ["MSALErrorJITTroubleshootingAcquireToken", "device"]],
  [-42733, ["MSALInternalErrorJITLinkServerConfirmationTimeout", "device"]],
  [-42734, ["MSALErrorJITTroubleshootingRequired", "device"]],
  [-42735, ["MSALErrorJITTroubleshootingResultUnknown", "device"]],
  [-42736, ["MSALErrorDeviceNotPSSORegistered", "device"]],
  [-42737, ["MSALErrorPSSOKeyIdMismatch", "device"]],
  [-42738, ["MSALErrorJITErrorHandlingConfigNotFound", "device"]],
  [-42739, ["MSALErrorPSSOBiometricPolicyMismatch", "device"]],
  [-42740, ["MSALErrorPSSOInvalidPasskeyExtension", "device"]],
  [-42741, ["MSALErrorPSSOSaveLoginConfigFailure", "device"]],
  [-42742, ["MSALErrorPSSOPasskeyLAError", "device"]],
  [-42743, ["MSALErrorPSSOBiometricsNotAvailable", "device"]],
  [-42744, ["MSALErrorPSSOBiometricsNotEnrolled", "device"]],
  [-42745, ["MSALInternalErrorInvalidASWebAuthenticationURL", "address"]],
]);

/**
 * MSAL's name of an error code.
 *
 * Returns { code, name, about }, where `about` names the explanation that several codes may share; undefined for a code that
 * is not MSAL's.
 */
export function msalError(code) {
  const row = table.get(Number(code));
  return row && { code: Number(code), name: row[0], about: row[1] };
}

/** MSAL's names, each with its code. */
export const msalNames = [...table].flatMap(([code, [names]]) => names.split(" / ").map((name) => [name, code]));

/** By our problem's code: MSAL's, or the internal one, which MSAL reports inside an error of the code −50000. */
const ours = {
  interaction_required: -50002,
  consent_required: -50002,
  session_expired: -50002,
  cancelled: -50005,
  admin_consent_required: -42104,
  access_denied: -42104,
  password_reset_requested: -42104,
  other_account: -42101,
  provider_unavailable: -42007,
  throttled: -42007,
  provider_rejected_client: -42003,
  provider_rejected_request: -42002,
  provider_metadata_invalid: -42010,
  state_mismatch: -42501,
  issuer_mismatch: -42600,
  nonce_mismatch: -42600,
  invalid_id_token: -42600,
};

/**
 * The error that MSAL would have given to an app where this server reports a problem.
 *
 * Returns { domain, code, name, internal } with `internal` as { code, name } for an internal error; undefined where MSAL has
 * no error of its own, as for an API that cannot be reached.
 */
export function nativeError(problemCode) {
  const found = msalError(ours[problemCode]);
  if (!found) return undefined;
  const isInternal = found.code > -50000;
  const { code, name } = isInternal ? msalError(-50000) : found;
  return { domain: msalErrorDomain, code, name, internal: isInternal ? { code: found.code, name: found.name } : undefined };
}

/**
 * The error as an app that writes `\(error)` prints it. Which keys there are depends on what is known; Foundation writes them in no
 * order of its own.
 */
export function printed({ domain, code, internal }, { words, oauthError, correlationID }) {
  const known = Object.entries({
    // Of a page that the person closes: MSIDASWebAuthenticationSessionHandler.m, in MSAL's common library.
    MSALErrorDescriptionKey: words ?? (code === -50005 ? "User cancelled the authorization session." : undefined),
    MSALOAuthErrorKey: oauthError,
    [msalInternalKey]: internal?.code,
    MSALCorrelationIDKey: correlationID,
  }).filter(([, value]) => value);
  return `Error Domain=${domain} Code=${code} "(null)" UserInfo={${known.map((each) => each.join("=")).join(", ")}}`;
}
