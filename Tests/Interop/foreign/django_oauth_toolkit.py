"""django-oauth-toolkit with OpenID Connect, as its documentation sets it up: PKCE is required, refresh tokens rotate and are protected."""

import subprocess

import django_site
from django.contrib import admin
from django.urls import include, path
from registered import given

KEY = subprocess.run(["openssl", "genrsa", "2048"], check=True, capture_output=True, text=True).stdout
django_site.set_up("oauth2_provider", OAUTH2_PROVIDER={
    "OIDC_ENABLED": True,
    "OIDC_RSA_PRIVATE_KEY": KEY,
    "OIDC_RP_INITIATED_LOGOUT_ENABLED": True,
    "OAUTH2_VALIDATOR_CLASS": "__main__.Claims",
    "SCOPES": {"openid": "OpenID Connect", "profile": "Your name", "email": "Your e-mail address"},
    "REFRESH_TOKEN_REUSE_PROTECTION": True,
    # https alone is allowed by default; this is a machine of one's own.
    "ALLOWED_REDIRECT_URI_SCHEMES": ["http"],
})

from oauth2_provider.models import Application
from oauth2_provider.oauth2_validators import OAuth2Validator

urlpatterns = [path("admin/", admin.site.urls), path("o/", include("oauth2_provider.urls", namespace="oauth2_provider"))]


class Claims(OAuth2Validator):
    oidc_claim_scope = OAuth2Validator.oidc_claim_scope | {"name": "profile", "preferred_username": "profile", "email": "email"}

    def get_additional_claims(self):
        return {
            "name": lambda request: request.user.get_full_name(),
            "preferred_username": lambda request: request.user.username,
            "email": lambda request: request.user.email,
        }


django_site.create()
Application.objects.create(
    name="Companion", client_id=given.client_id, client_secret=given.client_secret, client_type=Application.CLIENT_CONFIDENTIAL,
    authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE, algorithm=Application.RS256_ALGORITHM,
    redirect_uris=given.redirect_uri, post_logout_redirect_uris=given.signed_out_uri)
django_site.serve()
