// The words with which protocols and libraries name errors: an OAuth word counts from here and from nowhere else.
//
// Sources: RFC 6749 sections 4.1.2.1 and 5.2, RFC 8628 section 3.5, RFC 6750 section 3.1, OpenID Connect Core section 3.1.2.6; the
// platform's suberrors (MSIDOAuth2Constants.m of IdentityCore at 39c211d, and Microsoft's documentation); native authentication's
// (MSALNativeAuthSubErrorCode.swift and public/error of MSAL 2.13.0); MsalError.cs of MSAL.NET; the error codes
// of MSAL.js (BrowserAuthErrorCodes.ts, ClientAuthErrorCodes.ts) and of MSAL for Android (MsalClientException.java, ErrorStrings.java); the
// exceptions of the plugins msal_flutter and msal_auth.

const by = (causes) => new Map(Object.entries(causes).flatMap(([about, words]) => words.split(" ").map((word) => [word, about])));

/** By OAuth error: which explanation fits. */
export const oauthErrors = by({
  interaction: "interaction_required login_required account_selection_required",
  consent: "consent_required",
  grant: "invalid_grant invalid_token expired_refresh_token",
  device_code: "expired_token authorization_pending slow_down bad_verification_code authorization_declined",
  authorization: "access_denied",
  client: "invalid_client unauthorized_client",
  scope: "invalid_scope insufficient_scope",
  claims: "insufficient_claims",
  api_missing: "invalid_resource invalid_target",
  tenant: "invalid_tenant",
  authority: "invalid_instance",
  response_type: "unsupported_response_type",
  request:
    "invalid_request unsupported_grant_type request_not_supported request_uri_not_supported invalid_request_object unsupported_challenge_type",
  server: "server_error temporarily_unavailable",
  account_missing: "user_not_found",
  account_state: "user_already_exists",
});

/** By suberror, and by the code of another library: which explanation fits. They say more than the OAuth error. */
export const subErrors = by({
  protection: "protection_policy_required protection_policies_required",
  second_factor: "basic_action mfa_required registration_required",
  access_policy: "message_only provider_blocked_by_rep isAuthMethodBlocked isVerificationContactBlocked",
  device: "additional_action device_authentication_failed",
  consent: "consent_required",
  grant: "bad_token token_expired isRefreshTokenExpired",
  password:
    "user_password_expired invalid_oob_value password_too_weak password_too_short password_too_long password_is_invalid password_recently_used password_banned isInvalidCode isInvalidPassword isInvalidCredentials isInvalidUsername",
  native_auth: "nativeauthapi_disabled",
  account_missing: "isUserNotFound",
  account_state: "isUserAlreadyExists isUserDoesNotHavePassword",
  scope: "isInvalidScope",
  request: "attribute_validation_failed",
  keychain: "missing_entitlements cannot_access_publisher_keychain",
  cancelled:
    "authentication_canceled authentication_cancelled user_cancelled user_canceled USER_CANCELED USER_CANCELLED MsalUserCancelException MsalUserCancelledException",
  interaction: "user_null no_tokens_found MsalUiRequiredException UI_REQUIRED ui_required NO_ACCOUNT no_current_account",
  network: "request_timeout device_network_not_available",
  not_initialized: "uninitialized_public_client_application",
  running: "interaction_in_progress",
  timeout: "monitor_window_timeout",
  authority: "unknown_authority endpoints_resolution_error openid_config_error",
  broker: "broker_response_returned_error broker_nonce_mismatch broker_response_hash_mismatch",
  account: "multiple_matching_tokens_detected no_account_error",
  other_user: "current_account_mismatch",
  redirect: "redirect_uri_validation_failed",
  declined: "MsalDeclinedScopeException declined_scope_error",
});
