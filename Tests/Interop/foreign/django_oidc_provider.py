"""django-oidc-provider, as its documentation sets it up."""

import django_site
from django.contrib import admin
from django.core.management import call_command
from django.urls import include, path
from registered import given

django_site.set_up("oidc_provider", OIDC_USERINFO="__main__.userinfo")

from oidc_provider.models import Client, ResponseType

urlpatterns = [path("admin/", admin.site.urls), path("openid/", include("oidc_provider.urls", namespace="oidc_provider"))]


def userinfo(claims, user):
    return claims | {"name": user.get_full_name(), "preferred_username": user.username, "email": user.email}


django_site.create()
call_command("creatersakey", verbosity=0)
client = Client.objects.create(name="Companion", client_id=given.client_id, client_secret=given.client_secret)
client.response_types.add(ResponseType.objects.get(value="code"))
client.redirect_uris, client.post_logout_redirect_uris = [given.redirect_uri], [given.signed_out_uri]
client.save()
django_site.serve()
