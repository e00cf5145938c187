"""A browser without script: it signs in through the providers' forms, and loads pages with all that they name."""
import html
import http.client
import http.cookiejar
import re
import urllib.parse
import urllib.request


def sign_in(url):
    """Signs adele in from an address that leads to the demo tenant; the session's cookies as a Cookie field's value."""
    jar = http.cookiejar.CookieJar()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    opener.addheaders = [("Accept", "text/html")]
    page = opener.open(url)
    for fields in ({"username": "adele@contoso.example"}, {"password": "demo"}, {"consent": "accept"}):
        form = re.search(r'<form method="post" action="([^"]*)"(.*?)</form>', page.read().decode(), re.DOTALL)
        if not form:
            break  # It remembers the consent.
        hidden = {name: html.unescape(value)
                  for name, value in re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form[2])}
        target = urllib.parse.urljoin(page.url, html.unescape(form[1]))
        page = opener.open(target, urllib.parse.urlencode({**hidden, **fields}).encode())
    ours = [cookie for cookie in jar if re.fullmatch(r"companion-\d+|__Host-companion|mod_auth_openidc_session", cookie.name)]
    if not ours:
        raise RuntimeError(f"the sign-in at {url} ended at {page.url} without a session")
    return "; ".join(f"{cookie.name}={cookie.value}" for cookie in ours)


class Visitor:
    """Loads a page as a browser does that keeps what it may keep: scripts, the modules that they import, styles, icons and
    pictures. What scripts ask for while they run is not loaded."""

    def __init__(self, port):
        self.port, self.kept = port, {}

    def visit(self, path):
        """The number of the visit's requests, and of its responses' bytes, heads included."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        seen, waiting, requests, received = {path}, [path], 0, 0
        while waiting:
            here = waiting.pop(0)
            content, count = self.load(connection, here)
            requests += count > 0
            received += count
            for name in self.named(here, content):
                address = urllib.parse.urlsplit(urllib.parse.urljoin(f"http://here{here}", html.unescape(name)))
                if address.netloc == "here" and address.path not in seen:
                    seen.add(address.path)
                    waiting.append(address.path)
        connection.close()
        return requests, received

    def load(self, connection, path):
        content, fields = self.kept.get(path, ("", {}))
        if re.search(r"immutable|max-age=[1-9]", fields.get("cache-control", "")):
            return content, 0
        conditions = {"If-None-Match": fields["etag"]} if "etag" in fields else {}
        connection.request("GET", path, headers={
            "Accept-Encoding": "gzip, deflate, br", "Accept-Language": "en", "Host": f"localhost:{self.port}", **conditions})
        response = connection.getresponse()
        body = response.read()
        head = sum(len(name) + len(value) + 4 for name, value in response.getheaders()) + 19
        if response.status == 200:
            # The names are read from the identity, so that no decoder of the encodings is needed here.
            connection.request("GET", path, headers={"Accept-Encoding": "identity", "Accept-Language": "en"})
            content = connection.getresponse().read().decode(errors="replace")
            self.kept[path] = content, {name.lower(): value for name, value in response.getheaders()}
        elif response.status != 304:
            raise RuntimeError(f"{path} returned {response.status}")
        return content, head + len(body)

    @staticmethod
    def named(path, content):
        if content.lstrip()[:1] == "<" and "<svg" not in content[:200]:
            links = re.findall(r"<link\b[^>]*>", content)
            sources = re.findall(r"<(?:script|img)\b[^>]*?\ssrc=\"([^\"]+)\"", content)
            loaded = [link for link in links if re.search(r'rel="[^"]*(stylesheet|icon|preload|manifest)', link)]
            return sources + re.findall(r'href="([^"]+)"', " ".join(loaded))
        if path.endswith(".js"):
            return re.findall(r"""^\s*(?:import|export)\b[^;'"(]*["']([^"']+)["']""", content, re.MULTILINE)
        if path.endswith(".css"):
            return re.findall(r"""url\(["']?([^"')]+)["']?\)""", content)
        return []
