// Examples for the paste box: what people paste, with Microsoft's fictitious identifiers.

const encoded = (text) => btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/** An ID token that was given out just now: the first thing to learn from one is not that it has expired. */
const now = Math.floor(Date.now() / 1000);
const header = { typ: "JWT", alg: "RS256", kid: "example" };
const claims = {
  aud: "00001111-aaaa-2222-bbbb-3333cccc4444",
  iss: "https://login.microsoftonline.com/aaaabbbb-0000-cccc-1111-dddd2222eeee/v2.0",
  iat: now - 300,
  nbf: now - 300,
  exp: now + 3600,
  name: "Adele Vance",
  nonce: "n-0S6_WzA2Mj",
  oid: "aaaaaaaa-0000-1111-2222-bbbbbbbbbbbb",
  preferred_username: "adele@contoso.example",
  sub: "AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ",
  tid: "aaaabbbb-0000-cccc-1111-dddd2222eeee",
  ver: "2.0",
};

export const examples = {
  error:
    `AADSTS50011: The redirect URI 'msauth.com.contoso.tasks://auth' specified in the request does not match the redirect URIs configured for the application '00001111-aaaa-2222-bbbb-3333cccc4444'.`,
  log: "Error Domain=MSALErrorDomain Code=-50000 UserInfo={MSALInternalErrorCodeKey=-42011}",
  address:
    "https://login.microsoftonline.com/common/oauth2/v2.0/authorize?client_id=00001111-aaaa-2222-bbbb-3333cccc4444&response_type=code" +
    "&redirect_uri=msauth.com.contoso.tasks%3A%2F%2Fauth&scope=User.Read%20openid%20profile%20offline_access&state=c3RhdGU&nonce=n-0S6_WzA2Mj" +
    "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&prompt=select_account",
  token: [header, claims].map((part) => encoded(JSON.stringify(part))).join(".") + "." + encoded("an example's signature"),
  file: `<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0">
<dict>
	<key>CFBundleURLTypes</key>
	<array>
		<dict>
			<key>CFBundleURLSchemes</key>
			<array>
				<string>msauth.com.contoso.tasks</string>
			</array>
		</dict>
	</array>
</dict>
</plist>`,
  authority: "https://localhost:8443/common",
  challenge:
    `WWW-Authenticate: Bearer error="insufficient_claims", claims="eyJhY2Nlc3NfdG9rZW4iOnsiYWNycyI6eyJlc3NlbnRpYWwiOnRydWUsInZhbHVlIjoiYzEifX19"`,
  case: JSON.stringify({
    case: 1,
    companion: "0.3.0",
    kind: "workforce",
    settings: { prompt: "login", scopes: ["User.Read"], given: ["login_hint"] },
    outcome: { code: "access_denied", number: "AADSTS50105" },
    steps: [
      { step: "authorize", outcome: "ok", to: "authorize" },
      { step: "callback", outcome: "access_denied", error: "access_denied", ms: 2 },
    ],
    claims: {},
    replay: { kind: "not_assigned" },
  }),
};
