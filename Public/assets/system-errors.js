// Errors of Apple's systems that MSAL hands on as they are, by number.
//
// Sources: NSURLError.h, SecBase.h and MacErrors.h of Apple's SDKs; ASWebAuthenticationSession.h for the sign-in page.

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
  [-25300, ["errSecItemNotFound", "keychain_missing"]],
  [-25308, ["errSecInteractionNotAllowed", "keychain_locked"]],
  [-34018, ["errSecMissingEntitlement", "keychain"]],
]);

const page = new Map([
  [1, ["canceledLogin", "cancelled"]],
  [2, ["presentationContextNotProvided", "view_controller"]],
  [3, ["presentationContextInvalid", "view_controller"]],
]);

const tables = [
  [/^(?:NSURLErrorDomain|kCFErrorDomainCFNetwork)$/, network],
  [/^(?:NSOSStatusErrorDomain|MSIDKeychainErrorDomain|OSStatus)$/, status],
  [/WebAuthenticationSession|SFAuthentication/, page],
];

/**
 * { name, about } of an error of the system, where `about` names the explanation; { about: "unknown" } for a number that its
 * table lacks, undefined for a domain that is none of theirs.
 */
export function systemError(domain, code) {
  const table = tables.find(([domains]) => domains.test(domain))?.[1];
  if (!table) return undefined;
  const [name, about] = table.get(code) ?? [undefined, "unknown"];
  return { name, about };
}

/** The domain of a number that stands alone, undefined where it could be anything. */
export const domainOf = (code) => (status.has(code) ? "OSStatus" : network.has(code) ? "NSURLErrorDomain" : undefined);
