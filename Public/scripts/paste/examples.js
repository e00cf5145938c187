// Examples for the paste box: what people paste, with Microsoft's fictitious identifiers.

export const examples = {
  error:
    `AADSTS50011: The redirect URI 'msauth.com.contoso.tasks://auth' specified in the request does not match the redirect URIs configured for the application '00001111-aaaa-2222-bbbb-3333cccc4444'.`,
  log: "Error Domain=MSALErrorDomain Code=-50000 UserInfo={MSALInternalErrorCodeKey=-42011}",
  address:
    "https://login.microsoftonline.com/common/oauth2/v2.0/authorize?client_id=00001111-aaaa-2222-bbbb-3333cccc4444&response_type=code" +
    "&redirect_uri=msauth.com.contoso.tasks%3A%2F%2Fauth&scope=User.Read%20openid%20profile%20offline_access&state=c3RhdGU&nonce=n-0S6_WzA2Mj" +
    "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&prompt=select_account",
  token: "eyJ0eXAiOiJKV1QiLCJhbGciOiJSUzI1NiIsImtpZCI6ImV4YW1wbGUifQ.eyJhdWQiOiIwMDAwMTExMS1hYWFhLTIyMjItYmJiYi0zMzMzY2N" +
    "jYzQ0NDQiLCJpc3MiOiJodHRwczovL2xvZ2luLm1pY3Jvc29mdG9ubGluZS5jb20vYWFhYWJiYmItMDAwMC1jY2NjLTExMTEtZGRkZDIyMjJlZ" +
    "WVlL3YyLjAiLCJpYXQiOjE3ODAwMDAwMDAsIm5iZiI6MTc4MDAwMDAwMCwiZXhwIjoxNzgwMDAzOTAwLCJuYW1lIjoiQWRlbGUgVmFuY2UiLCJ" +
    "ub25jZSI6Im4tMFM2X1d6QTJNaiIsIm9pZCI6ImFhYWFhYWFhLTAwMDAtMTExMS0yMjIyLWJiYmJiYmJiYmJiYiIsInByZWZlcnJlZF91c2Vyb" +
    "mFtZSI6ImFkZWxlQGNvbnRvc28uZXhhbXBsZSIsInN1YiI6IkFBQUFBQUFBQUFBQUFBQUFBQUFBQUlrenFGVnJTYVNhRkh5NzgyYmJ0YVEiLCJ" +
    "0aWQiOiJhYWFhYmJiYi0wMDAwLWNjY2MtMTExMS1kZGRkMjIyMmVlZWUiLCJ2ZXIiOiIyLjAifQ.YW4gZXhhbXBsZSdzIHNpZ25hdHVyZQ",
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
