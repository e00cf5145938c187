// Messages of MSAL, of the platform, of Apple's systems and of the App Store that say more than the code beside them, or that come
// without one.
//
// Sources of MSAL's: the literals of MSAL at fae6844 and of IdentityCore at 39c211d that reach its log or an NSError; MSAL.NET's are in
// MsalErrorMessage.cs. The tests name file and line of each.

import { systemSentences } from "./system-errors.js";

// By explanation: the words in lower case. Those of the platform also decide about the number beside them.
const platform = {
  protection: ["enforce intune protection policies"],
  spa: ["cross-origin token redemption is permitted only", "may only be redeemed via cross-origin requests"],
  device: [
    "admin requires your device to be managed",
    "device is required to be managed",
    "device is not in required device state",
    "device must be compliant",
  ],
  permission: ["not listed in the requested permissions", "insufficient privileges to complete the operation"],
  unregistered: ["specified in the request does not match the redirect uris configured", "no reply address"],
  consent: ["has not consented to use the application", "user declined to consent"],
  admin_consent: ["that only an admin can grant", "admin consent is required"],
  second_factor: [
    "must use multi-factor authentication",
    "must enroll in multi-factor authentication",
    "multi-factor authentication is required, which can't be fulfilled",
  ],
  access_policy: [
    "blocked by conditional access",
    "does not meet the criteria to access this resource",
    "server blocked the strong authentication method",
    "server blocked the verification contact",
  ],
  domain_joined: ["unsupported required device state: domain_joined", "unsupported+required+device+state:+domain_joined"],
  host_tenant: ["domain name does not match with the tenant identifier"],
  resource: ["resource parameter provided in the request doesn't match with the requested scopes"],
  other_policy: ["grant has not been issued for this endpoint"],
  tenant: ["was not found in the directory"],
  scope: ["scope can't be combined with resource-specific scopes"],
  audience: ["is not configured as a multi-tenant application", "tokens from this api version for a microsoft account"],
  account_missing: ["does not exist in tenant", "account does not exist in the directory", "couldn't find an account with that username"],
  grant: ["refresh token has expired", "was already redeemed", "grant has expired due to it being revoked"],
  confidential: ["must contain the following parameter: 'client_assertion' or 'client_secret'"],
  secret: ["invalid client secret", "client secret keys", "client is public so neither"],
  post: ["only accepts post"],
  signing_key: ["cannot find signing certificate"],
  native_auth: ["not supported in native authentication api flow"],
  federated: ["error connecting to the identity provider"],
  account_disabled: ["user account is disabled"],
  locked: ["account is locked"],
  password: ["invalid username or password", "error validating credentials", "user password change is required, which can't be fulfilled"],
  unassigned: ["is not assigned to a role for the application"],
  session: ["set to block cookies", "browser is blocking cookies", "cookies are blocked", "please enable cookies"],
};

const telling = {
  queries: ["required query schemes"],
  scheme_form: ["url schemes found in your app are not in the correct format", "url schemes need to begin with an alphabetic character"],
  scheme: [
    "is not registered in the app's info.plist",
    "cannot open the page because the address is invalid",
    "url scheme found in your app are disallowed: [msauth]",
  ],
  redirect: [
    "the bundle id does not match the app",
    "redirect uri has incorrect scheme",
    "redirecturi must not include a fragment component",
    "invalid redirect uri provided",
    "missing the required host component",
    "url not coming from the expected redirect uri",
  ],
  cloud: ["unable to use token from a different cloud"],
  ciam: ["it is not ciam authority", "it is not adfs authority", "it is not b2c authority"],
  authority: [
    "authority validation is not supported",
    "non microsoft authority is not supported",
    "unknown or invalid instance",
    "authority must have aad tenant",
    "b2c authority should have at least 3 segments",
    "non-custom ciam authority should have at least 3 segments",
    "authority url is not a valid authority",
    "provided authority url is nil",
    "configure msalpublicclientapplication with the same authority type",
    "invalid msalaudiencetype provided",
    "invalid msalazurecloudinstance provided",
    "webfinger request was invalid or failed",
  ],
  unsupported: ["ad fs authority is not supported", "adfs authority is not yet supported", "provided authority is not yet supported"],
  https: ["authority must use https", "redirected to a non-https url"],
  running: [
    "only one interactive session is allowed",
    "system web session is already in progress",
    "webview session already in progress",
    "authorization session was cancelled progra",
  ],
  view_controller: [
    "application does not have a current viewcontroller",
    "main viewcontroller is nil",
    "failed to start an interactive session",
    "valid msalwebviewparameters are required",
    "failed to create system webview controller",
  ],
  extension: ["interaction is not supported in an app extension", "unable to redirect to browser from extension"],
  broker: [
    "did not receive response from broker",
    "no broker resume state found",
    "broker nonce mismatch",
    "failed to decrypt broker message",
    "decrypted response does not match the hash",
    "sso extension returned corrupted error",
    "broker authentication already in progress",
  ],
  broker_missing: ["broker is not enabled for this operation", "update microsoft authenticator to the latest version"],
  declined: ["server returned less scopes than requested", "requested scopes have been declined by the server"],
  other_user: ["different account was returned from the server"],
  account: [
    "multiple accounts found in cache",
    "no account provided for the silent request",
    "contains more than one user",
    "no account matching request found",
  ],
  parameter: [
    "clientid is not a guid",
    "duplicate claims parameter is found",
    "parameter missing:",
    "is a required parameter and must not be nil",
  ],
  device: ["workplace join is required", "could not find device registration"],
  keychain: [
    "failed to set keychain access group",
    "failed to retrieve teamid from keychain",
    "cannot access the ios keychain for the application publisher",
    "does not have keychain access groups enabled",
    "is not enabled in the entitlements.plist",
  ],
  response: ["authentication response received without expected", "server returned invalid id token", "server returned empty id token"],
  objc: ["fillwithwebviewparameters"],
  not_initialized: [
    "instance not initialized",
    "must call and await the initialize function",
    "before calling acquiretoken, initialize",
  ],
  token_audience: ["idx10214", "jwt audience invalid", "audience validation failed", "audience doesn't match"],
  token_issuer: ["idx10205", "jwt issuer invalid", "issuer validation failed", "invalid claim value: 'iss'"],
  clock: [
    "idx10222",
    "jwt not active",
    "token used before issued",
    "token is not yet valid",
    "is before nbf",
    "is before the token's nbf",
  ],
  no_app: ["msauthv2://broker"],
  no_error: ["_genericobjcerror"],
  cancelled: ["error_subcode=cancel"],
  graph_token: [
    "access token is empty",
    "access token validation failure",
    "access token has expired or is not yet valid",
    "compacttoken parsing failed",
    "idx14100",
    "lifetime validation failed, the token is expired",
  ],
  proxy: ["problem communicating with the secure web proxy"],
  licence: ["mailbox is either inactive, soft-deleted, or is hosted on-premise"],
};

/** The explanation of a code that the words replace, because they know better. */
const replaced = { queries: "scheme", scheme_form: "scheme", cloud: "interaction" };

// Words that a code or a number would make superfluous.
const weak = {
  keychain: ["failed to get items from keychain", "failed to set item into keychain", "client explicitly specifies access group"],
  interaction: ["user interaction is required", "authorization requires interaction", "browser required. use acquiretokeninteractively"],
  account_missing: ["user does not exist"],
  account_state: ["user already exists", "user does not have password associated with account"],
  password: ["invalid credentials", "invalid password"],
  token_issuer: ["https://sts.windows.net/"],
  cancelled: ["user cancelled the authorization session", "sso extension authorization was canceled", "user canceled authentication"],
  reset: ["user has forgotten their password"],
};

const rows = (table) => Object.entries(table).flatMap(([about, all]) => all.map((words) => ({ words, about, replaces: replaced[about] })));
const tables = [...rows(platform), ...rows(telling)];
const weakRows = [...rows(weak), ...rows(systemSentences)];
const platformRows = rows(platform);

/** The blanks between words that are not one blank: a line may end there, in JSON too, and a form has a plus sign. */
const blanks = / ?(?:(?! )[\s+]|\\[nrt])(?:[\s+]|\\[nrt]){0,40}| {2,40}/g;

/** A text as it is compared with the words, but for capitals. */
const plain = (text) => text.replace(/’/g, "'").replace(blanks, " ");

// All words in one expression: a log of megabytes is read once and not once for each of them.
const escaped = (words) => words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const anyWords = new RegExp([...new Set([...tables, ...weakRows].map(({ words }) => escaped(words)))].join("|"), "g");

/** The known words in a text, and how it writes each. */
export function wordsIn(text) {
  const found = new Map();
  const read = plain(text);
  for (const { index, 0: words } of read.toLowerCase().matchAll(anyWords)) {
    if (!found.has(words)) found.set(words, read.slice(index, index + words.length));
  }
  return found;
}

/** The explanations of the words that were found: { telling, weak }, each of { title, about, replaces }. */
export function messages(written) {
  const found = (all) =>
    all.filter(({ words }) => written.has(words)).map(({ words, about, replaces }) => ({
      title: `“${written.get(words)}”`,
      about,
      replaces,
    }));
  return { telling: found(tables), weak: found(weakRows) };
}

/** The explanation of the words that the platform puts beside one of its numbers; undefined for words that are not known. */
export function platformWords(text) {
  const lower = plain(text).toLowerCase();
  return platformRows.find(({ words }) => lower.includes(words))?.about;
}

// The error codes of MSAL's common core, which stand in MSAL's log; an app gets the one of MSALErrorDomain that it is turned into.
//
// Source: IdentityCore/src/MSIDError.h in AzureAD/microsoft-authentication-library-common-for-objc at 39c211d.

// By code: name, and which explanation fits, as in msal-errors.js.
const coreTable = new Map([
  [-51100, ["MSIDErrorInternal", "internal"]],
  [-51111, ["MSIDErrorInvalidInternalParameter", "internal"]],
  [-51112, ["MSIDErrorInvalidDeveloperParameter", "parameter"]],
  [-51113, ["MSIDErrorMissingAccountParameter", "account"]],
  [-51114, ["MSIDErrorUnsupportedFunctionality", "unsupported"]],
  [-51115, ["MSIDErrorInteractionRequired", "interaction"]],
  [-51116, ["MSIDErrorServerNonHttpsRedirect", "https"]],
  [-51117, ["MSIDErrorMismatchedAccount", "other_user"]],
  [-51118, ["MSIDErrorRedirectSchemeNotRegistered", "scheme"]],
  [-51119, ["MSIDErrorInvalidRedirectURI", "redirect"]],
  [-51120, ["MSIDErrorBoundAppRefreshTokenRedemptionError", "grant"]],
  [-51200, ["MSIDErrorCacheMultipleUsers", "account"]],
  [-51201, ["MSIDErrorCacheBadFormat", "cache"]],
  [-51400, ["MSIDErrorServerOauth", "authorization"]],
  [-51401, ["MSIDErrorServerInvalidResponse", "response"]],
  [-514102, ["MSIDErrorServerRefreshTokenRejected", "grant"]],
  [-51410, ["MSIDErrorServerInvalidRequest", "request"]],
  [-51411, ["MSIDErrorServerInvalidClient", "client"]],
  [-51412, ["MSIDErrorServerInvalidGrant", "grant"]],
  [-51413, ["MSIDErrorServerInvalidScope", "scope"]],
  [-51414, ["MSIDErrorServerUnauthorizedClient", "client"]],
  [-51415, ["MSIDErrorServerDeclinedScopes", "declined"]],
  [-51416, ["MSIDErrorServerAccessDenied", "authorization"]],
  [-51417, ["MSIDErrorServerError", "server"]],
  [-51420, ["MSIDErrorServerInvalidState", "response"]],
  [-51430, ["MSIDErrorServerProtectionPoliciesRequired", "protection"]],
  [-51440, ["MSIDErrorAuthorizationFailed", "authorization"]],
  [-51500, ["MSIDErrorServerUnhandledResponse", "server"]],
  [-51501, ["MSIDErrorUnexpectedHttpResponse", "server"]],
  [-51600, ["MSIDErrorAuthorityValidation", "authority"]],
  [-51700, ["MSIDErrorUserCancel", "cancelled"]],
  [-51701, ["MSIDErrorSessionCanceledProgrammatically", "running"]],
  [-51702, ["MSIDErrorInteractiveSessionStartFailure", "view_controller"]],
  [-51710, ["MSIDErrorInteractiveSessionAlreadyRunning", "running"]],
  [-51730, ["MSIDErrorAttemptToOpenURLFromExtension", "extension"]],
  [-51731, ["MSIDErrorUINotSupportedInExtension", "extension"]],
  [-51732, ["MSIDErrorInsufficientDeviceStrength", "device"]],
  [-51733, ["MSIDErrorMDMEnrollmentCompletedNeedsRetry", "enrolled"]],
  [-51734, ["MSIDErrorInvalidASWebAuthenticationURL", "address"]],
  [-51800, ["MSIDErrorBrokerResponseNotReceived", "broker"]],
  [-51801, ["MSIDErrorBrokerNoResumeStateFound", "broker"]],
  [-51802, ["MSIDErrorBrokerBadResumeStateFound", "broker"]],
  [-51803, ["MSIDErrorBrokerMismatchedResumeState", "scheme"]],
  [-51804, ["MSIDErrorBrokerResponseHashMissing", "broker"]],
  [-51805, ["MSIDErrorBrokerCorruptedResponse", "broker"]],
  [-51806, ["MSIDErrorBrokerResponseDecryptionFailed", "broker"]],
  [-51807, ["MSIDErrorBrokerResponseHashMismatch", "broker"]],
  [-51808, ["MSIDErrorBrokerKeyFailedToCreate", "keychain"]],
  [-51809, ["MSIDErrorBrokerKeyNotFound", "keychain"]],
  [-51810, ["MSIDErrorWorkplaceJoinRequired", "device"]],
  [-51811, ["MSIDErrorBrokerUnknown", "broker"]],
  [-51812, ["MSIDErrorBrokerApplicationTokenWriteFailed", "keychain"]],
  [-51813, ["MSIDErrorBrokerApplicationTokenReadFailed", "keychain"]],
  [-51814, ["MSIDErrorBrokerNotAvailable", "broker_missing"]],
  [-51815, ["MSIDErrorSSOExtensionUnexpectedError", "broker"]],
  [-51816, ["MSIDErrorJITLinkServerConfirmationTimeout", "device"]],
  [-51817, ["MSIDErrorJITLinkServerConfirmationError", "device"]],
  [-51818, ["MSIDErrorJITLinkAcquireTokenError", "device"]],
  [-51819, ["MSIDErrorJITLinkTokenAcquiredWrongTenant", "device"]],
  [-51820, ["MSIDErrorJITLinkError", "device"]],
  [-51821, ["MSIDErrorJITComplianceCheckResultNotCompliant", "device"]],
  [-51822, ["MSIDErrorJITComplianceCheckResultTimeout", "device"]],
  [-51823, ["MSIDErrorJITComplianceCheckResultUnknown", "device"]],
  [-51824, ["MSIDErrorJITComplianceCheckInvalidLinkPayload", "device"]],
  [-51825, ["MSIDErrorJITComplianceCheckCreateController", "device"]],
  [-51826, ["MSIDErrorJITLinkConfigNotFound", "device"]],
  [-51827, ["MSIDErrorJITInvalidLinkTokenConfig", "device"]],
  [-51828, ["MSIDErrorJITWPJDeviceRegistrationFailed", "device"]],
  [-51829, ["MSIDErrorJITWPJAccountIdentifierNil", "device"]],
  [-51830, ["MSIDErrorJITWPJAcquireTokenError", "device"]],
  [-51831, ["MSIDErrorJITRetryRequired", "device"]],
  [-51832, ["MSIDErrorJITUnknownStatusWebCP", "device"]],
  [-51833, ["MSIDErrorJITTroubleshootingRequired", "device"]],
  [-51834, ["MSIDErrorJITTroubleshootingCreateController", "device"]],
  [-51835, ["MSIDErrorJITTroubleshootingResultUnknown", "device"]],
  [-51836, ["MSIDErrorJITTroubleshootingAcquireToken", "device"]],
  [-51837, ["MSIDErrorDeviceNotPSSORegistered", "device"]],
  [-51838, ["MSIDErrorPSSOKeyIdMismatch", "device"]],
  [-51839, ["MSIDErrorJITErrorHandlingConfigNotFound", "device"]],
  [-51840, ["MSIDErrorPSSOBiometricPolicyMismatch", "device"]],
  [-51841, ["MSIDErrorPSSOInvalidPasskeyExtension", "device"]],
  [-51842, ["MSIDErrorPSSOSaveLoginConfigFailure", "device"]],
  [-51843, ["MSIDErrorPSSOPasskeyLAError", "device"]],
  [-51844, ["MSIDErrorPSSOBiometricsNotEnrolled", "device"]],
  [-51845, ["MSIDErrorPSSOBiometricsNotAvailable", "device"]],
  [-51900, ["MSIDErrorThrottleCacheNoRecord", "cache"]],
  [-51901, ["MSIDErrorThrottleCacheInvalidSignature", "cache"]],
  [-51902, ["MSIDErrorBrokerAppIsInactive", "broker"]],
  [-51903, ["MSIDErrorBrokerAppIsInBackground", "broker"]],
  [-52001, ["MSIDErrorBrokerXpcUnexpectedError", "broker"]],
]);

/** { code, name, about } of a code of the common core; undefined for any other. */
export function msidError(code) {
  const row = coreTable.get(Number(code));
  return row && { code: Number(code), name: row[0], about: row[1] };
}

/** The common core's names, each with its code. */
export const msidNames = [...coreTable].flatMap(([code, [names]]) => names.split(" / ").map((name) => [name, code]));
