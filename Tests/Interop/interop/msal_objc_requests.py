"""MSAL's requests: their headers, its one more try, and what it answers from memory. For `C` and `M` see msal_objc.py."""

import base64
import json
import time

import requests

VERSION = "2.14.0"
# C MSIDDeviceId.m:104, 79: the processor is one of 32 and 64 bits.
DEVICE = {"x-client-SKU": "MSAL.iOS", "x-client-Ver": VERSION, "x-client-OS": "26.0", "x-client-CPU": "64", "x-client-DM": "iPhone"}
# C MSIDRequestParameters.m:124
APP = {"x-app-name": "Tasks", "x-app-ver": "1.0"}


class Refused(Exception):
    """An error of MSAL: its code, where it has one of its own, and what it says; of an answer also its OAuth error, status and Retry-After."""

    def __init__(self, says, code=None, *, oauth=None, status=None, retry_after=None):
        super().__init__(f"{says} ({code})" if code else says)
        self.says, self.code, self.oauth, self.status, self.retry_after = says, code, oauth, status, retry_after


class Requests:
    """MSIDHttpRequest with MSIDAADRequestErrorHandler."""

    def __init__(self, session):
        self.session, self.retries, self.waited = session, 0, 0.0

    def send(self, method, url, correlation_id, **more):
        """C MSIDHttpRequest.m:43: one more try, after half a second (44)."""
        for tries_left in (1, 0):
            try:
                answer = self.session.request(method, url, headers=headers(correlation_id), allow_redirects=False, **more)
            except requests.exceptions.SSLError:
                # C MSIDAADRequestErrorHandler.m:172: an error of TLS is not among those.
                raise
            except (requests.ConnectionError, requests.Timeout) as error:
                # C MSIDAADRequestErrorHandler.m:54, 62
                if not tries_left:
                    raise Refused("The network connection was lost.", -1005) from error
            else:
                # C MSIDAADRequestErrorHandler.m:72
                if not (500 <= answer.status_code <= 599 and tries_left):
                    return answer
            self.retries += 1
            self.waited += 0.5
        raise AssertionError("MSAL tries twice")

    def members(self, answer):
        """The members of an answer. C MSIDHttpRequest.m:213 reads those of 200, MSIDAADRequestErrorHandler.m:95 and 126 those of 400 and 401."""
        if answer.status_code not in (200, 400, 401):
            # C MSIDAADRequestErrorHandler.m:167, M MSALErrorConverter.m:143
            raise Refused(f"HTTP {answer.status_code}", -42007, status=answer.status_code, retry_after=answer.headers.get("Retry-After"))
        try:
            return answer.json()
        except ValueError as error:
            raise Refused("the answer is no JSON") from error


def headers(correlation_id):
    """C MSIDAADRequestConfigurator.m:65-81: all of them are headers, and none stands in the query."""
    return {
        "x-ms-PkeyAuth": "1.0", "Accept": "application/json", **DEVICE, **APP,
        "return-client-request-id": "true", "client-request-id": correlation_id}


class Throttling:
    """C MSIDThrottlingService.m: a silent request that failed is answered from memory for a while. The records end with the process."""

    # C MSIDThrottlingModelNonRecoverableServerError.m:32, MSIDThrottlingModel429.m:31, 32
    OAUTH_ERROR, UNAVAILABLE, MOST = 120, 60, 3600

    def __init__(self):
        self.records, self.interactive_at, self.now = {}, None, time.monotonic

    def check(self, endpoint, fields):
        """C MSIDSilentTokenRequest.m:594-606, MSIDThrottlingModelFactory.m:145-153: the strict thumbprint is looked for first."""
        for thumbprint in thumbprints(endpoint, fields):
            if thumbprint not in self.records:
                continue
            error, made, end, is_for_oauth = self.records[thumbprint]
            # C MSIDThrottlingModelNonRecoverableServerError.m:99: an interactive sign-in that succeeded since ends it.
            is_over = is_for_oauth and self.interactive_at is not None and self.interactive_at >= made
            if self.now() < end and not is_over:
                raise error
            del self.records[thumbprint]
            return

    def note(self, endpoint, fields, error):
        """C MSIDThrottlingModelFactory.m:117-127: 429, 5xx and Retry-After come first, then OAuth's errors."""
        strict, full = thumbprints(endpoint, fields)
        # C MSIDThrottlingModel429.m:74-82
        if error.retry_after or error.status == 429 or 500 <= (error.status or 0) <= 599:
            # C MSIDThrottlingModel429.m:105-114
            wanted = int(error.retry_after) if error.retry_after else self.UNAVAILABLE
            seconds = self.MOST if wanted - self.MOST > self.MOST else wanted
            self.records[strict] = (error, self.now(), self.now() + seconds, False)
        # C MSIDThrottlingModelNonRecoverableServerError.m:69-72
        elif error.oauth or error.code in (-50002, -50003, -50004):
            self.records[full] = (error, self.now(), self.now() + self.OAUTH_ERROR, True)


def thumbprints(endpoint, fields):
    """C MSIDRefreshTokenGrantRequest.m:84-108: the strict one, and the full one, in which claims count too."""
    strict = {name: fields[name] for name in ("client_id", "refresh_token", "scope")}
    full = {name: value for name, value in fields.items() if name not in ("grant_type", "client_info")}
    return tuple(json.dumps({"kind": kind, "endpoint": endpoint, **values}, sort_keys=True) for kind, values in (("strict", strict), ("full", full)))


def encoded(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decoded(text):
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
