"""The steps of MSALNativeAuth (MSAL for iOS and macOS, commit fae6844ee), in its order and with its validators' rules.

It runs on no Mac. Below, V is MSAL/src/native_auth/network/responses/validator, E is MSAL/src/native_auth/network/errors, and C is
MSAL/src/native_auth/controllers; the numbers are lines.
"""

import time
import uuid

from .msal_objc import OIDC_SCOPES
from .msal_objc_requests import Refused, Requests, decoded

GENERAL = "generalError"
PASSWORD_SUBERRORS = (
    "password_too_weak", "password_too_short", "password_too_long", "password_is_invalid", "password_recently_used", "password_banned")
# E/**/*Oauth2ErrorCode.swift: any other word is unknown.
KNOWN = {
    "oauth2/v2.0/initiate": "invalid_request unauthorized_client user_not_found unsupported_challenge_type",
    "oauth2/v2.0/challenge": "invalid_request unauthorized_client invalid_grant expired_token unsupported_challenge_type access_denied",
    "oauth2/v2.0/introspect": "invalid_request expired_token",
    "oauth2/v2.0/token": "invalid_request invalid_client unauthorized_client invalid_grant expired_token expired_refresh_token "
    "unsupported_challenge_type invalid_scope authorization_pending slow_down user_not_found",
    "signup/v1.0/start": "invalid_request unauthorized_client invalid_grant user_already_exists attributes_required "
    "unsupported_challenge_type unsupported_auth_method",
    "signup/v1.0/challenge": "invalid_request unauthorized_client unsupported_challenge_type expired_token",
    "signup/v1.0/continue": "invalid_request unauthorized_client invalid_grant expired_token user_already_exists attributes_required "
    "verification_required credential_required",
    "resetpassword/v1.0/start": "invalid_request unauthorized_client user_not_found unsupported_challenge_type",
    "resetpassword/v1.0/challenge": "invalid_request unauthorized_client unsupported_challenge_type expired_token",
    "resetpassword/v1.0/continue": "invalid_request unauthorized_client invalid_grant expired_token verification_required",
    "resetpassword/v1.0/submit": "invalid_request unauthorized_client invalid_grant expired_token",
    "resetpassword/v1.0/poll_completion": "invalid_request unauthorized_client invalid_grant expired_token user_not_found",
    "register/v1.0/introspect": "",
    "register/v1.0/challenge": "access_denied invalid_request",
    "register/v1.0/continue": "invalid_request invalid_grant",
}
# MSAL/src/native_auth/public/state_machine/delegate: the method that hands a state to the app.
DELEGATES = {
    "SignInCodeRequiredState": "onSignInCodeRequired", "SignInPasswordRequiredState": "onSignInPasswordRequired",
    "AwaitingMFAState": "onSignInAwaitingMFA", "MFARequiredState": "onMFARequestChallengeVerificationRequired",
    "RegisterStrongAuthState": "onSignInStrongAuthMethodRegistration",
    "RegisterStrongAuthVerificationRequiredState": "onRegisterStrongAuthVerificationRequired",
    "SignUpCodeRequiredState": "onSignUpCodeRequired", "SignUpPasswordRequiredState": "onSignUpPasswordRequired",
    "SignUpAttributesRequiredState": "onSignUpAttributesRequired", "SignInAfterSignUpState": "onSignUpCompleted",
    "ResetPasswordCodeRequiredState": "onResetPasswordCodeRequired", "ResetPasswordRequiredState": "onPasswordRequired",
    "SignInAfterResetPasswordState": "onResetPasswordCompleted", "signed in": "onSignInCompleted",
}


def property_of(error):
    """The property of an error that is true; None for a general one."""
    return None if error == GENERAL else f"is{error[0].upper()}{error[1:]}"


class State:
    """The state that the app holds, or an error without one: the name, the token, and what came with it.

    first: whether it comes of a password that was given to signIn.
    """

    def __init__(self, name, token=None, error=None, first=False, **values):
        self.name, self.token, self.error, self.first, self.values = name, token, error, first, values

    @property
    def shown(self):
        """Its line at the tenant: the delegate's method, or the error's property, and the state."""
        held = self.name if self.name in DELEGATES and self.name != "signed in" else None
        if self.error == "attributesInvalid":
            return "onSignUpAttributesInvalid", held
        return property_of(self.error) if self.error else DELEGATES[self.name], held

    def __repr__(self):
        return f"{self.name}{f' with {self.error}' if self.error else ''} {self.values}"


class Failed(Exception):
    """The error that a validator makes of an answer."""

    def __init__(self, kind, body=None):
        super().__init__(f"{kind}: {body}")
        self.kind, self.body = kind, body or {}


class NativeApplication:
    """MSALNativeAuthPublicClientApplication. No metadata are asked for before the first request."""

    def __init__(self, session, authority, client_id, challenge_types=("oob", "password"), capabilities=("mfa_required", "registration_required")):
        # MSALNativeAuthInternalConfiguration.swift:63-78: redirect always, and last.
        self.http, self.authority, self.client_id = Requests(session), authority, client_id
        self.challenge_types = " ".join((*challenge_types, "redirect"))
        self.capabilities = " ".join(capabilities)
        self.requests = []

    # Requests

    def post(self, path, **fields):
        """Returns the JSON of a 200, with the tenant's correlation ID checked."""
        correlation_id = str(uuid.uuid4()).upper()
        fields = {"client_id": self.client_id} | {name: value for name, value in fields.items() if value is not None}
        self.requests.append(path)
        try:
            answer = self.http.send("POST", f"{self.authority}/{path}", correlation_id, data=fields)
        except Refused as refused:
            raise Failed(GENERAL, {"why": refused.says}) from refused
        # MSALNativeAuthResponseCorrelatable.swift:33-38
        if "client-request-id" not in [name for name in answer.headers if name.islower()]:
            raise Failed(GENERAL, {"why": "no correlation ID under its lower-case name"})
        if answer.status_code == 200:
            return answer.json()
        # MSIDAADRequestErrorHandler: only these bodies are decoded.
        if answer.status_code not in (400, 401):
            raise Failed(GENERAL, {"why": f"status {answer.status_code}"})
        body = answer.json()
        body["known"] = body.get("error") in KNOWN[path].split()
        raise Failed(self.validated(path, body), body)

    @staticmethod
    def validated(path, body):
        """The kind of error that a validator makes of an error body."""
        error, suberror, codes = body.get("error"), body.get("suberror"), body.get("error_codes") or []
        first = codes[0] if codes else None
        if not body["known"]:
            return GENERAL
        match path:
            # V/sign_in/MSALNativeAuthSignInResponseValidator.swift:207
            case "oauth2/v2.0/initiate" if error == "user_not_found":
                return "userNotFound"
            # …:173
            case "oauth2/v2.0/challenge" if error == "access_denied" and suberror == "provider_blocked_by_rep":
                return "authMethodBlocked"
            # V/token/MSALNativeAuthTokenResponseValidator.swift:94-148, 224-240
            case "oauth2/v2.0/token":
                if error == "invalid_grant":
                    if suberror == "invalid_oob_value":
                        return "invalidCode"
                    if suberror in ("mfa_required", "registration_required"):
                        return suberror if body.get("continuation_token") else GENERAL
                    return {50034: "userNotFound", 50126: "invalidPassword"}.get(first, GENERAL)
                return {"expired_refresh_token": "refreshTokenExpired", "invalid_scope": "invalidScope", "user_not_found": "userNotFound"}.get(error, GENERAL)
            # V/sign_up/MSALNativeAuthSignUpResponseValidator.swift:69-104, 274-282
            case "signup/v1.0/start":
                if error == "user_already_exists":
                    return "userAlreadyExists"
                if error == "invalid_grant" and suberror in PASSWORD_SUBERRORS:
                    return "invalidPassword"
                if error == "invalid_grant" and suberror == "attribute_validation_failed" and body.get("invalid_attributes"):
                    return "attributesInvalid"
                if error == "invalid_request" and first == 90100 and "username parameter is empty or not valid" in body["error_description"]:
                    return "invalidUsername"
            # …:186-272
            case "signup/v1.0/continue":
                if error == "invalid_grant":
                    if suberror == "invalid_oob_value":
                        return "invalidCode"
                    if suberror in PASSWORD_SUBERRORS:
                        return "invalidPassword"
                    if suberror == "attribute_validation_failed" and body.get("invalid_attributes"):
                        return "attributesInvalid"
                if error == "credential_required" and body.get("continuation_token"):
                    return "credentialRequired"
                if error == "attributes_required" and body.get("continuation_token") and body.get("required_attributes"):
                    for each in body["required_attributes"]:
                        # E/sign_up/MSALNativeAuthRequiredAttributeInternal.swift
                        if not (isinstance(each.get("name"), str) and isinstance(each.get("type"), str) and isinstance(each.get("required"), bool)):
                            return GENERAL
                    return "attributesRequired"
            # V/reset_password/MSALNativeAuthResetPasswordResponseValidator.swift:69-97
            case "resetpassword/v1.0/start":
                if error == "user_not_found":
                    return "userNotFound"
                if error == "invalid_request" and first == 500222:
                    return "userDoesNotHavePassword"
            # …:183
            case "resetpassword/v1.0/continue" if error == "invalid_grant" and suberror == "invalid_oob_value":
                return "invalidCode"
            # …:234, 287
            case "resetpassword/v1.0/submit" | "resetpassword/v1.0/poll_completion" if error == "invalid_grant" and suberror in PASSWORD_SUBERRORS:
                return "invalidPassword"
            # V/jit/MSALNativeAuthJITResponseValidator.swift:170-198
            case "register/v1.0/challenge":
                if error == "access_denied" and suberror == "provider_blocked_by_rep":
                    return "verificationContactBlocked"
                if error == "invalid_request" and 901001 in codes:
                    return "invalidInput"
            # …:199
            case "register/v1.0/continue" if error == "invalid_grant" and suberror == "invalid_oob_value":
                return "invalidChallenge"
        return GENERAL

    @staticmethod
    def need(body, *names):
        """Returns a 200 that has the members on which a validator insists; `redirect` is the way to the browser everywhere."""
        if body.get("challenge_type") == "redirect":
            raise Failed("browserRequired", body)
        for name in names:
            if not body.get(name):
                raise Failed(GENERAL, {"why": f"{name} is missing", **body})
        return body

    def start(self, path, username, **fields):
        body = self.post(path, username=username, challenge_type=self.challenge_types, capabilities=self.capabilities or None, **fields)
        return self.need(body, "continuation_token")["continuation_token"]

    def challenge(self, path, token, **fields):
        """V/…: an oob needs target, channel and length; a password its token."""
        body = self.need(self.post(path, continuation_token=token, **({"challenge_type": self.challenge_types} | fields)), "challenge_type", "continuation_token")
        if body["challenge_type"] == "oob":
            target = "challenge_target" if path.startswith("register") else "challenge_target_label"
            self.need(body, target, "challenge_channel", "code_length")
        elif body["challenge_type"] != ("preverified" if path.startswith("register") else "password") or path.startswith("resetpassword"):
            raise Failed(GENERAL, {"why": "unexpected challenge type"})
        return body

    # Sign-in: C/sign_in/MSALNativeAuthSignInController.swift

    def sign_in(self, username, password=None, scopes=()):
        if not username:
            return State("error", error="invalidUsername")
        self.username, self.scopes = username, " ".join((*scopes, *OIDC_SCOPES))
        try:
            body = self.challenge("oauth2/v2.0/challenge", self.start("oauth2/v2.0/initiate", username))
        except Failed as failed:
            return State("error", error=failed.kind)
        if body["challenge_type"] == "oob":
            return State("SignInCodeRequiredState", body["continuation_token"], **body)
        state = State("SignInPasswordRequiredState", body["continuation_token"])
        if password is None:
            return state
        return self.submit_password(state, password, first=True)

    def submit_password(self, state, password, first=False):
        return self.tokens(state, first, grant_type="password", username=self.username, password=password, challenge_type=self.challenge_types)

    def submit_code(self, state, code):
        return self.tokens(state, grant_type="oob", oob=code)

    def resend(self, state):
        body = self.challenge("oauth2/v2.0/challenge", state.token)
        return State(state.name, body["continuation_token"], **body)

    def request_challenge(self, state, method):
        try:
            body = self.challenge("oauth2/v2.0/challenge", state.token, id=method["id"])
        except Failed as failed:
            # …:407-424: the state after this one, with the token of this one.
            return State("MFARequiredState", state.token, failed.kind)
        return State("MFARequiredState", body["continuation_token"], **body)

    def submit_challenge(self, state, code):
        after = self.tokens(state, grant_type="mfa_oob", oob=code)
        if after.error == "invalidCode":
            # MFASubmitChallengeError.swift:43-51
            after.error = "invalidChallenge"
        return after

    def sign_in_after(self, state):
        """After a sign-up, a reset or a registration."""
        # …:125: without a token nothing is sent.
        if not state.token:
            return State("error", error=GENERAL)
        return self.tokens(state, grant_type="continuation_token", username=self.username, challenge_type=self.challenge_types)

    def tokens(self, state, first=False, **fields):
        path = "oauth2/v2.0/token"
        try:
            body = self.need(self.post(path, continuation_token=state.token, scope=self.scopes, client_info="true", **fields), "access_token", "client_info")
        except Failed as failed:
            if failed.kind == "mfa_required":
                return self.methods("AwaitingMFAState", "oauth2/v2.0/introspect", failed.body)
            if failed.kind == "registration_required":
                return self.methods("RegisterStrongAuthState", "register/v1.0/introspect", failed.body)
            # …:634-685: after each error, but not at the first call, and not after a sign-up, a reset or a registration.
            kept = state.name in ("SignInCodeRequiredState", "SignInPasswordRequiredState", "MFARequiredState") and not first
            kind = "invalidCredentials" if first and failed.kind == "invalidPassword" else failed.kind
            return State(state.name if kept else "error", state.token if kept else None, kind, first)
        info, claims = decoded(body["client_info"]), decoded(body["id_token"].split(".")[1])
        return State("signed in", None, identifier=f"{info['uid']}.{info['utid']}", claims=claims, access_token=body["access_token"], refresh_token=body["refresh_token"])

    def methods(self, name, path, demand):
        try:
            body = self.need(self.post(path, continuation_token=demand["continuation_token"]), "continuation_token", "methods")
            for each in body["methods"]:
                self.need(each, "id", "challenge_type", "challenge_channel")
        except Failed as failed:
            return State("error", error=failed.kind)
        return State(name, body["continuation_token"], methods=body["methods"])

    # The first second factor: C/jit/MSALNativeAuthJITController.swift

    def challenge_method(self, state, method, contact):
        try:
            body = self.challenge("register/v1.0/challenge", state.token, challenge_type=method["challenge_type"], challenge_target=contact, challenge_channel=method["challenge_channel"])
        except Failed as failed:
            kept = failed.kind != "browserRequired"
            return State("RegisterStrongAuthState" if kept else "error", state.token if kept else None, failed.kind)
        if body["challenge_type"] == "preverified":
            return self.submit_registration(State(state.name, body["continuation_token"]), None)
        return State("RegisterStrongAuthVerificationRequiredState", body["continuation_token"], **body)

    def submit_registration(self, state, code):
        fields = {"grant_type": "oob", "oob": code} if code else {"grant_type": "continuation_token"}
        try:
            body = self.need(self.post("register/v1.0/continue", continuation_token=state.token, **fields), "continuation_token")
        except Failed as failed:
            # …:250-266, 365-373
            kept = code is not None and failed.kind != "browserRequired"
            return State(state.name if kept else "error", state.token if kept else None, failed.kind)
        return self.sign_in_after(State("", body["continuation_token"]))

    # Sign-up: C/sign_up/MSALNativeAuthSignUpController.swift

    def sign_up(self, username, password=None, attributes=None):
        self.username, self.scopes = username, " ".join(OIDC_SCOPES)
        try:
            body = self.challenge("signup/v1.0/challenge", self.start("signup/v1.0/start", username, password=password, attributes=attributes))
        except Failed as failed:
            return State("error", error=failed.kind)
        return State("SignUpCodeRequiredState", body["continuation_token"], **body)

    def continue_sign_up(self, state, **fields):
        try:
            # A missing token is a success after which nobody is signed in.
            body = self.post("signup/v1.0/continue", continuation_token=state.token, **fields)
            return State("SignInAfterSignUpState", body.get("continuation_token"))
        except Failed as failed:
            token = failed.body.get("continuation_token")
            # …:492, 592: after the code alone.
            if failed.kind == "credentialRequired" and state.name == "SignUpCodeRequiredState":
                return self.password_required(token)
            if failed.kind == "attributesRequired":
                return State("SignUpAttributesRequiredState", token, attributes=failed.body["required_attributes"])
            kept = failed.kind in ("invalidCode", "invalidPassword", "attributesInvalid")
            return State(state.name if kept else "error", state.token if kept else None, failed.kind)

    def password_required(self, token):
        """…:380-438"""
        try:
            body = self.challenge("signup/v1.0/challenge", token)
        except Failed as failed:
            return State("error", error=failed.kind)
        if body["challenge_type"] != "password":
            return State("error", error=GENERAL)
        return State("SignUpPasswordRequiredState", body["continuation_token"])

    # Reset: C/reset_password/MSALNativeAuthResetPasswordController.swift

    def reset(self, username):
        self.username, self.scopes = username, " ".join(OIDC_SCOPES)
        try:
            body = self.challenge("resetpassword/v1.0/challenge", self.start("resetpassword/v1.0/start", username))
        except Failed as failed:
            return State("error", error=failed.kind)
        return State("ResetPasswordCodeRequiredState", body["continuation_token"], **body)

    def submit_reset_code(self, state, code):
        try:
            body = self.need(self.post("resetpassword/v1.0/continue", continuation_token=state.token, grant_type="oob", oob=code), "continuation_token")
        except Failed as failed:
            kept = failed.kind == "invalidCode"
            return State(state.name if kept else "error", state.token if kept else None, failed.kind)
        return State("ResetPasswordRequiredState", body["continuation_token"])

    def submit_new_password(self, state, password):
        try:
            body = self.need(self.post("resetpassword/v1.0/submit", continuation_token=state.token, new_password=password), "continuation_token", "poll_interval")
            return self.poll(body)
        except Failed as failed:
            kept = failed.kind == "invalidPassword"
            return State(state.name if kept else "error", state.token if kept else None, failed.kind)

    def poll(self, submitted):
        """…:430, 505-700: the first poll and five more, with the same token."""
        for left in range(5, -1, -1):
            body = self.need(self.post("resetpassword/v1.0/poll_completion", continuation_token=submitted["continuation_token"]), "status")
            if body["status"] == "succeeded":
                return State("SignInAfterResetPasswordState", body.get("continuation_token"))
            if body["status"] not in ("in_progress", "not_started"):
                break
            if left:
                time.sleep(submitted["poll_interval"])
        return State("error", error=GENERAL)
