"""The configurations of those beside whom the companion is measured: as many workers as there are cores, no access log, kept
connections to clients and upstream, and the fields of the companion's own responses."""
import json
import os
import pathlib
import secrets

from .servers import Missing, Server, free_ports, need

ME = json.dumps({
    "@odata.context": "https://graph.microsoft.com/v1.0/$metadata#users/$entity", "businessPhones": ["+1 425 555 0109"],
    "displayName": "Adele Vance", "givenName": "Adele", "jobTitle": "Retail Manager", "mail": "adele@contoso.example",
    "mobilePhone": "+1 425 555 0109", "officeLocation": "18/2111", "preferredLanguage": "en-US", "surname": "Vance",
    "userPrincipalName": "adele@contoso.example", "id": "87d349ed-44d7-43e1-9a83-5f2406dee5bd"})
API = "/v1.0/me"

# Each server writes these itself.
OWN_FIELDS = {"content-length", "content-type", "date", "connection", "etag", "last-modified", "accept-ranges", "server",
              "transfer-encoding", "keep-alive"}


def quoted(text):
    """As nginx reads it; the dollar is a variable's (see `geo` below)."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("$", "${dollar}") + "'"


def nginx(name, folder, servers, path, is_secure=False):
    """nginx with these `server` blocks, given the port."""
    program = need("nginx", "nginx-light")
    port = free_ports()
    own = folder / name
    own.mkdir()
    own.chmod(0o755)
    (own / "nginx.conf").write_text(f"""
{"user root;" if os.geteuid() == 0 else ""}
daemon off;
pid {own}/nginx.pid;
worker_processes {os.cpu_count()};
error_log {own}/error.log;
events {{ worker_connections 12000; }}
http {{
  access_log off;
  server_tokens off;
  sendfile on;
  tcp_nodelay on;
  keepalive_timeout 75s;
  keepalive_requests 1000000000;
  open_file_cache max=100 inactive=1h;
  open_file_cache_valid 1h;
  client_body_temp_path {own}/t1; proxy_temp_path {own}/t2; fastcgi_temp_path {own}/t3;
  uwsgi_temp_path {own}/t4; scgi_temp_path {own}/t5;
  geo $dollar {{ default "$"; }}
  {servers.replace("@PORT@", str(port))}
}}
""")
    return Server(name, port, [program, "-p", own, "-c", own / "nginx.conf"], own, path, is_secure)


def upstream(folder):
    """The API that all call: it wants a bearer token, and returns the same bytes at once."""
    return nginx("upstream", folder, f"""
server {{
  listen 127.0.0.1:@PORT@ reuseport backlog=4096;
  location = / {{ return 200 "ready"; }}
  location = {API} {{
    if ($http_authorization !~ "^Bearer .") {{ return 401; }}
    default_type "application/json; charset=utf-8";
    add_header request-id 8f5d0b5e-4b1c-4ba2-8a9d-3f1d6c3a1a01;
    return 200 {quoted(ME)};
  }}
}}""", "/")


def fields(response):
    """A response's fields, as nginx is to write them."""
    return "\n".join(f"add_header {name} {quoted(value)};" for name, value in response[0]
                     if name.lower() not in OWN_FIELDS | {"request-id"})


def secure_nginx(folder, page, small, certificate, key):
    """nginx over TLS as it comes, which is with tickets, and with TLS 1.3, which Debian 12's leaves out unless asked: the page as a file, and a small response by `return 200`."""
    root = folder / "secure-root"
    root.mkdir()
    root.chmod(0o755)
    (root / "page").write_bytes(page[1])
    return nginx("nginx-tls", folder, f"""
server {{
  listen 127.0.0.1:@PORT@ ssl reuseport backlog=4096;
  ssl_certificate {certificate};
  ssl_certificate_key {key};
  ssl_protocols TLSv1.2 TLSv1.3;
  location = /page {{ root {root}; default_type "text/html; charset=utf-8"; {fields(page)} }}
  location = /small {{ default_type "application/json"; {fields(small)} return 200 {quoted(small[1].decode())}; }}
}}""", "/page", is_secure=True)


def comparable_nginx(folder, page, account, me, api):
    """nginx with the page as a file, the account by `return 200`, and `/me` by `proxy_pass`.

    The three are the companion's responses, fields and body."""
    root = folder / "root"
    root.mkdir()
    root.chmod(0o755)
    (root / "page").write_bytes(page[1])
    return nginx("nginx", folder, f"""
upstream api {{ server 127.0.0.1:{api}; keepalive 256; keepalive_requests 1000000000; }}
server {{
  listen 127.0.0.1:@PORT@ reuseport backlog=4096;
  location = /page {{ root {root}; default_type "text/html; charset=utf-8"; {fields(page)} }}
  location = /account {{ default_type "application/json"; {fields(account)} return 200 {quoted(account[1].decode())}; }}
  location = /me {{
    proxy_pass http://api{API};
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Authorization "Bearer {secrets.token_urlsafe(1500)}";
    {fields(me)}
  }}
}}""", "/page")


def apache(folder, port, metadata, client_id, client_secret, api):
    """Apache with mod_auth_openidc in front of the same API, to which it passes the session's access token."""
    program = need("apache2", "apache2")
    modules = pathlib.Path("/usr/lib/apache2/modules")
    if not (modules / "mod_auth_openidc.so").exists():
        raise Missing("mod_auth_openidc", "libapache2-mod-auth-openidc")
    own = folder / "apache"
    own.mkdir()
    own.chmod(0o755)
    loaded = "\n".join(
        f"LoadModule {name}_module {modules}/mod_{name}.so"
        for name in ("mpm_event", "authn_core", "authz_core", "authz_user", "headers", "proxy", "proxy_http", "auth_openidc"))
    (own / "apache.conf").write_text(f"""
ServerRoot {own}
DefaultRuntimeDir {own}
PidFile {own}/apache.pid
ErrorLog {own}/error.log
LogLevel error
ServerName localhost
ServerTokens Prod
Listen 127.0.0.1:{port}
{loaded}
{"User www-data" if os.geteuid() == 0 else ""}
{"Group www-data" if os.geteuid() == 0 else ""}
StartServers {os.cpu_count()}
ServerLimit {os.cpu_count()}
ThreadsPerChild 128
ThreadLimit 128
MaxRequestWorkers {os.cpu_count() * 128}
MinSpareThreads 1
MaxSpareThreads {os.cpu_count() * 128}
KeepAlive On
KeepAliveTimeout 75
MaxKeepAliveRequests 0
OIDCProviderMetadataURL {metadata}
OIDCClientID {client_id}
OIDCClientSecret {client_secret}
OIDCRedirectURI http://localhost:{port}/auth/callback
OIDCCryptoPassphrase {secrets.token_hex(32)}
OIDCScope "openid profile offline_access user.read"
OIDCPKCEMethod S256
OIDCPassClaimsAs environment
OIDCSessionInactivityTimeout 86400
<Location /me>
  AuthType openid-connect
  Require valid-user
  RequestHeader set Authorization "Bearer %{{OIDC_access_token}}e"
  ProxyPass http://127.0.0.1:{api}{API}
</Location>
<Location /auth>
  AuthType openid-connect
  Require valid-user
</Location>
""")
    return Server("apache", port, [program, "-f", own / "apache.conf", "-D", "FOREGROUND"], own)
