"""A Django site on loopback with django-auth-adfs, as its documentation sets it up for Azure AD, and the tenant's host for Microsoft's.

Its one page shows the person who is signed in. The argument is a file of JSON: `port`, `folder`, `host`, and `auth_adfs`, its settings.
"""

import json
import pathlib
import sys
from types import SimpleNamespace

import django
from django.conf import settings
from django.core.management import call_command
from django.http import JsonResponse
from django.urls import include, path

given = SimpleNamespace(**json.loads(pathlib.Path(sys.argv[1]).read_text()))

settings.configure(
    SECRET_KEY="a key of the suite that signs nothing else",
    ALLOWED_HOSTS=["localhost"],
    ROOT_URLCONF="__main__",
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "django_auth_adfs"],
    MIDDLEWARE=["django.contrib.sessions.middleware.SessionMiddleware", "django.contrib.auth.middleware.AuthenticationMiddleware",
                "django_auth_adfs.middleware.LoginRequiredMiddleware"],
    AUTHENTICATION_BACKENDS=["django_auth_adfs.backend.AdfsAccessTokenBackend", "django_auth_adfs.backend.AdfsAuthCodeBackend"],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{given.folder}/django.sqlite"}},
    LOGIN_URL="django_auth_adfs:login",
    LOGIN_REDIRECT_URL="/",
    AUTH_ADFS=given.auth_adfs,
    USE_TZ=True,
)
django.setup()

from django_auth_adfs import config


def page(request):
    user = request.user
    return JsonResponse({
        "username": user.username, "first_name": user.first_name, "last_name": user.last_name, "email": user.email,
        "groups": sorted(group.name for group in user.groups.all())})


urlpatterns = [path("", page), path("oauth2/", include("django_auth_adfs.urls"))]
# Its own setting for the server is for AD FS alone, whose addresses are others.
config.settings.SERVER = given.host

call_command("migrate", verbosity=0)
sys.argv = ["manage.py", "runserver"]
call_command("runserver", f"127.0.0.1:{given.port}", "--noreload", "--skip-checks")
