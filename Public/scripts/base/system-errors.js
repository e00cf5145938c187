// Errors of Apple's systems that MSAL hands on as they are, by number.
//
// Sources: NSURLError.h, CFNetworkErrors.h, SecBase.h, MacErrors.h and errno.h of Apple's SDKs; ASWebAuthenticationSession.h and
// ASAuthorizationError.h for the sign-in page; OIDError.h of openid/AppAuth-iOS, which plugins use.

const network = new Map([
  [-999, ["cancelled", "aborted"]],
  [-1000, ["badURL", "address"]],
  [-1001, ["timedOut", "timeout"]],
  [-1002, ["unsupportedURL", "address"]],
  [-1003, ["cannotFindHost", "host"]],
  [-1004, ["cannotConnectToHost", "refused"]],
  [-1005, ["networkConnectionLost", "timeout"]],
  [-1006, ["dnsLookupFailed", "host"]],
  [-1009, ["notConnectedToInternet", "network"]],
  [-1011, ["badServerResponse", "server"]],
  [-1012, ["userCancelledAuthentication", "challenge"]],
  [-1013, ["userAuthenticationRequired", "challenge"]],
  [-1020, ["dataNotAllowed", "network"]],
  [300, ["kCFErrorHTTPAuthenticationTypeUnsupported", "proxy"]],
  [306, ["kCFErrorHTTPProxyConnectionFailure", "proxy"]],
  [307, ["kCFErrorHTTPBadProxyCredentials", "proxy"]],
  [308, ["kCFErrorPACFileError", "proxy"]],
  [309, ["kCFErrorPACFileAuth", "proxy"]],
  [310, ["kCFErrorHTTPSProxyConnectionFailure", "proxy"]],
  [311, ["kCFStreamErrorHTTPSProxyFailureUnexpectedResponseToCONNECTMethod", "proxy"]],
  [-1022, ["appTransportSecurityRequiresSecureConnection", "https"]],
  [-1200, ["secureConnectionFailed", "certificate"]],
  [-1201, ["serverCertificateHasBadDate", "certificate"]],
  [-1202, ["serverCertificateUntrusted", "certificate"]],
  [-1203, ["serverCertificateHasUnknownRoot", "certificate"]],
  [-1204, ["serverCertificateNotYetValid", "certificate"]],
  [-1205, ["clientCertificateRejected", "challenge"]],
  [-1206, ["clientCertificateRequired", "challenge"]],
]);

const status = new Map([
  [-128, ["userCanceledErr", "keychain_denied"]],
  [-10814, ["kLSApplicationNotFoundErr", "no_app"]],
  [-25243, ["errSecNoAccessForItem", "keychain"]],
  [-25291, ["errSecNotAvailable", "keychain_locked"]],
  [-25293, ["errSecAuthFailed", "keychain_denied"]],
  [-25294, ["errSecNoSuchKeychain", "keychain_locked"]],
  [-25299, ["errSecDuplicateItem", "keychain_duplicate"]],
  [-25300, ["errSecItemNotFound", "keychain_missing"]],
  [-25307, ["errSecNoDefaultKeychain", "keychain_locked"]],
  [-25308, ["errSecInteractionNotAllowed", "keychain_locked"]],
  [-34018, ["errSecMissingEntitlement", "keychain"]],
]);

const page = new Map([
  [1, ["canceledLogin", "cancelled"]],
  [2, ["presentationContextNotProvided", "view_controller"]],
  [3, ["presentationContextInvalid", "view_controller"]],
]);

const authorization = new Map([
  [1000, ["unknown", "apple_authorization"]],
  [1001, ["canceled", "cancelled"]],
  [1002, ["invalidResponse", "apple_authorization"]],
  [1003, ["notHandled", "apple_authorization"]],
  [1004, ["failed", "apple_authorization"]],
  [1005, ["notInteractive", "view_controller"]],
]);

const posix = new Map([
  [50, ["ENETDOWN", "network"]],
  [51, ["ENETUNREACH", "network"]],
  [53, ["ECONNABORTED", "timeout"]],
  [54, ["ECONNRESET", "timeout"]],
  [57, ["ENOTCONN", "timeout"]],
  [60, ["ETIMEDOUT", "timeout"]],
  [61, ["ECONNREFUSED", "refused"]],
]);

const appAuth = new Map([
  [-2, ["OIDErrorCodeInvalidDiscoveryDocument", "authority"]],
  [-3, ["OIDErrorCodeUserCanceledAuthorizationFlow", "cancelled"]],
  [-4, ["OIDErrorCodeProgramCanceledAuthorizationFlow", "running"]],
  [-5, ["OIDErrorCodeNetworkError", "network"]],
  [-6, ["OIDErrorCodeServerError", "server"]],
  [-15, ["OIDErrorCodeIDTokenFailedValidationError", "response"]],
]);

const oauth = new Map([
  [-2, ["invalid_request", "request"]],
  [-3, ["unauthorized_client", "client"]],
  [-4, ["access_denied", "authorization"]],
  [-6, ["invalid_scope", "scope"]],
  [-7, ["server_error", "server"]],
  [-9, ["invalid_client", "client"]],
  [-10, ["invalid_grant", "grant"]],
]);

const bridged = new Map([[0, ["nilError", "no_error"]]]);

// The names of a domain, its table, and what stands before a name of the table where that is one word with it.
/** @type {[string[], Map<any, string[]>, string[]][]} */
const tables = [
  [["NSURLErrorDomain", "kCFErrorDomainCFNetwork"], network, ["NSURLError", "URLError"]],
  [["NSOSStatusErrorDomain", "MSIDKeychainErrorDomain", "OSStatus"], status, [""]],
  [
    [
      "com.apple.AuthenticationServices.WebAuthenticationSession",
      "ASWebAuthenticationSessionErrorDomain",
      "com.apple.SafariServices.Authentication",
      "SFAuthenticationErrorDomain",
    ],
    page,
    ["ASWebAuthenticationSessionError", "ASWebAuthenticationSessionErrorCode", "SFAuthenticationError"],
  ],
  [["com.apple.AuthenticationServices.AuthorizationError"], authorization, ["ASAuthorizationError"]],
  [["NSPOSIXErrorDomain"], posix, [""]],
  [["org.openid.appauth.general"], appAuth, [""]],
  [["org.openid.appauth.oauth_token", "org.openid.appauth.oauth_authorization"], oauth, []],
  [["Foundation._GenericObjCError"], bridged, []],
];

/** The domains that have a table here, as they stand in a text. */
export const systemDomains = tables.flatMap(([names]) => names);

/** The names in all tables, each with its domain and code. */
export const systemNames = tables.flatMap(([[domain], table, beginnings]) =>
  [...table].flatMap(([code, [name]]) => beginnings.map((begin) => [begin + name, { domain, code }]))
);

/**
 * { name, about } of an error of the system, where `about` names the explanation; { about: "unknown" } for a number that its
 * table lacks, undefined for a domain that is none of theirs.
 */
export function systemError(domain, code) {
  const table = tables.find(([domains]) => domains.includes(domain))?.[1];
  if (!table) return undefined;
  const [name, about] = table.get(code) ?? [undefined, "unknown"];
  return { name, about };
}

/** The domain of a number that stands alone, undefined where it could be anything. */
export const domainOf = (code) => (status.has(code) ? "OSStatus" : code < 0 && network.has(code) ? "NSURLErrorDomain" : undefined);

// The sentences with which Apple's systems describe their most frequent errors, in the languages of the readers and in German, French
// and Spanish. They come without a number where an app shows localizedDescription, or a log keeps no more than that.
//
// Sources: public code that compares with them or ignores them, such as lists of Safari's errors for Sentry, and issue 28 of
// ninjinkun/NJKWebViewProgress; the keychain's are those of SecCopyErrorMessageString.

/** By explanation: the sentences in lower case, as far as they are always the same. */
export const systemSentences = {
  network: [
    "internet connection appears to be offline",
    "インターネット接続がオフラインのようです",
    "似乎已断开与互联网的连接",
    "a conexão com a internet parece estar offline",
    "internetanslutningen verkar vara nedkopplad",
    "internetanslutningen verkar vara offline",
    "anscheinend keine verbindung zum internet",
    "la connexion internet semble interrompue",
    "la connexion internet semble être hors ligne",
    "la conexión a internet parece estar desactivada",
  ],
  timeout: [
    "the request timed out",
    "the network connection was lost",
    "リクエストがタイムアウトになりました",
    "ネットワーク接続が切れました",
    "请求超时",
    "网络连接已中断",
    "nätverksanslutningen förlorades",
    "zeitüberschreitung bei der anforderung",
  ],
  host: [
    "server with the specified hostname could not be found",
    "指定されたホスト名のサーバが見つかりません",
    "使用指定主机名的服务器",
    "encontrar um servidor com o nome de host especificado",
    "server med det angivna värdnamnet",
    "kein server mit dem angegebenen hostnamen gefunden",
    "servidor con el nombre de host especificado",
  ],
  refused: ["could not connect to the server", "verbindung zum server konnte nicht hergestellt werden"],
  certificate: [
    "an ssl error has occurred and a secure connection",
    "发生了ssl错误",
    "发生ssl错误",
    "发生 ssl 错误",
    "the certificate for this server is invalid",
  ],
  https: ["app transport security policy requires the use of a secure connection"],
  keychain: ["a required entitlement isn't present"],
  keychain_missing: ["the specified item could not be found in the keychain"],
  keychain_denied: ["the user name or passphrase you entered is not correct"],
  keychain_locked: ["user interaction is not allowed"],
  keychain_duplicate: ["the specified item already exists in the keychain"],
};
