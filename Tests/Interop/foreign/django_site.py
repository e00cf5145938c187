"""A Django site on loopback, with the administration's own sign-in page."""

import sys

import django
from django.conf import settings
from django.core.management import call_command
from registered import given

APPLICATIONS = ["admin", "auth", "contenttypes", "sessions", "messages", "staticfiles"]
MIDDLEWARE = ["sessions.middleware.SessionMiddleware", "middleware.common.CommonMiddleware", "middleware.csrf.CsrfViewMiddleware",
              "contrib.auth.middleware.AuthenticationMiddleware", "contrib.messages.middleware.MessageMiddleware"]
PROCESSORS = ["template.context_processors.request", "contrib.auth.context_processors.auth", "contrib.messages.context_processors.messages"]


def set_up(application, **more):
    """The settings of a site with this one application; its addresses are `urlpatterns` of the program that runs."""
    settings.configure(
        SECRET_KEY=given.client_secret * 3,
        ALLOWED_HOSTS=["localhost"],
        ROOT_URLCONF="__main__",
        INSTALLED_APPS=[f"django.contrib.{name}" for name in APPLICATIONS] + [application],
        MIDDLEWARE=["django.contrib." + name if name.startswith("sessions.") else "django." + name for name in MIDDLEWARE],
        TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True,
                    "OPTIONS": {"context_processors": ["django." + name for name in PROCESSORS]}}],
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{given.folder}/django.sqlite"}},
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        STATIC_URL="/static/",
        LOGIN_URL="/admin/login/",
        USE_TZ=True,
        **more,
    )
    django.setup()


def create():
    """The tables, and the person."""
    from django.contrib.auth import get_user_model
    call_command("migrate", verbosity=0)
    first, _, last = given.name.partition(" ")
    get_user_model().objects.create_superuser(given.username, given.email, given.password, first_name=first, last_name=last)


def serve():
    """As manage.py does, with the pages' style sheets."""
    sys.argv = ["manage.py", "runserver"]
    call_command("runserver", f"127.0.0.1:{given.port}", "--noreload", "--insecure", "--skip-checks")
