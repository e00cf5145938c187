"""MSAL's authorities: which addresses it takes, and which one a silent request asks. For `C` and `M` see msal_objc.py."""

import urllib.parse
import uuid

from .msal_objc_requests import Refused

# C MSIDAADTenant.m: these are no tenant of their own.
SHARED = ("common", "organizations", "consumers")


class Authority:
    """MSIDAADAuthority, MSIDB2CAuthority or MSIDCIAMAuthority, as MSALAADAuthority, MSALB2CAuthority and MSALCIAMAuthority make them."""

    def __init__(self, kind, url):
        self.kind = kind
        split = urllib.parse.urlsplit(url)
        self.host, self.name = split.netloc.lower(), split.hostname
        self.path = [each for each in split.path.split("/") if each]
        parts = self.host.split(".")
        if kind == "CIAM":
            # C MSIDCIAMAuthority.m:78
            if len(parts) < 2:
                raise Refused("Invalid URL format: Missing host components.")
            # C MSIDCIAMAuthority.m:88-95: only such a host gets a tenant, from its own name.
            if parts[1] == "ciamlogin" and not self.path:
                self.path = [f"{parts[0]}.onmicrosoft.com"]
        # C MSIDAADAuthority.m:180 and MSIDCIAMAuthority.m:175, by MSIDAuthority.m:284. M MSALB2CAuthority.m:38 does not ask for the check.
        if kind != "B2C" and split.scheme != "https":
            raise Refused("authority must use HTTPS.")
        if kind == "AAD":
            # C MSIDAADAuthority.m:195, 205
            for other in ("B2C", "CIAM"):
                if self.is_standard(other):
                    raise Refused(f"Trying to initialize AAD authority with {other} authority url.")
            # C MSIDAADAuthority.m:326: the rest of the path does not count.
            self.path = self.path[:1]
        self.url = f"{split.scheme}://{self.host}/" + "/".join(self.path)

    def is_standard(self, kind):
        """C MSIDB2CAuthority.m:86-115, MSIDCIAMAuthority.m:121-142: whether it has the form in which MSAL can exchange the tenant."""
        if kind == "B2C":
            return len(self.path) >= 3 and self.path[0].lower() == "tfp"
        parts = self.host.split(".")
        return kind == "CIAM" and len(parts) >= 3 and parts[1] == "ciamlogin"

    @property
    def metadata_url(self):
        return self.url.rstrip("/") + "/v2.0/.well-known/openid-configuration"

    @property
    def realm(self):
        """C MSIDCIAMAuthority.m:216-222, MSIDB2CAuthority.m:145-151: without the usual form, the path."""
        if self.kind == "AAD":
            return self.path[0]
        if not self.is_standard(self.kind):
            return "/" + "/".join(self.path)
        return self.path[1] if self.kind == "B2C" else self.path[0]

    def of_answer(self, client_info, id_token):
        """The authority under which MSAL keeps an account, and which its silent requests ask."""
        if self.kind == "AAD":
            # C MSIDAADV2Oauth2Factory.m:361-371
            return Authority("AAD", f"https://{self.host}/{id_token['tid']}") if id_token.get("tid") else self
        if not self.is_standard(self.kind):
            return self
        tenant = client_info["utid"]
        # C MSIDB2COauth2Factory.m:143 with MSIDB2CAuthority.m:77, MSIDCIAMOauth2Factory.m:137 with MSIDCIAMAuthority.m:59
        path = f"{self.path[0]}/{tenant}/{self.path[2]}" if self.kind == "B2C" else tenant
        return Authority(self.kind, f"https://{self.host}/{path}")

    def of_silent_request(self, account):
        """M MSALAADOauth2Provider.m:110-120, MSALB2COauth2Provider.m:76-85, MSALCIAMOauth2Provider.m:73-82: the one of the sign-in at this
        authority; at Entra ID otherwise the account's home, for an authority that is no tenant (131-143)."""
        if self.url in account.authorities:
            return account.authorities[self.url]
        if self.kind == "AAD" and self.path[0].lower() in SHARED:
            return Authority("AAD", f"https://{self.host}/{uuid.UUID(account.home_tenant)}")
        return self
