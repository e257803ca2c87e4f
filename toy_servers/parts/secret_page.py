"""One local page where a person types a secret to a server, past the client.

Each question gets an address of its own that nobody can guess and that works once. The page is
served on the loopback interface only, so a link sent to somebody else leads them to their own
machine, not to this one. It answers nothing but its own host name (a foreign site may not reach
it), takes no form from another site, runs no script, and writes no log.

Does not handle: several people on one machine, and TLS. A server on the web must find out who
opened the page, and that it is the person it asked (client/elicitation, "Phishing").
"""

from __future__ import annotations

import html
import secrets
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_BODY = 4096
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self';"
    " frame-ancestors 'none'",
    # Not "no-referrer": a browser would then send "Origin: null" with the form itself.
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Content-Type": "text/html; charset=utf-8",
}
PAGE = """<!doctype html><html lang="en"><title>{title}</title>
<meta name="viewport" content="width=device-width">
<style>body {{ font: 17px/1.5 system-ui, sans-serif; max-width: 32em; margin: 4em auto;
padding: 0 1em; color-scheme: light dark }} input, button {{ font: inherit; padding: .3em .6em }}
</style><h1>{title}</h1>{body}"""
FORM = """<p>{prompt}</p><form method="post"><input type="password" name="secret" required
autofocus autocomplete="off" aria-label="{prompt}"> <button>Give it to {title}</button></form>
<p><small>It goes from this page to the server. Your MCP client does not see it.</small></p>"""


class SecretPage:
    """The pages of one server process. `open` starts listening at the first question."""

    def __init__(self, title: str):
        self.title = title
        self._prompts: dict[str, str] = {}
        self._given: dict[str, str] = {}
        self._lock = threading.Lock()
        self._http: ThreadingHTTPServer | None = None

    def open(self, prompt: str) -> str:
        """Begin a question: its name, of which `url` makes an address."""
        with self._lock:
            if self._http is None:
                self._http = _listen(self)
            name = secrets.token_urlsafe(16)
            self._prompts[name] = prompt
        return name

    @property
    def place(self) -> str:
        """Host and port, as a browser's Host header has them."""
        assert self._http is not None
        return f"127.0.0.1:{self._http.server_address[1]}"

    def url(self, name: str) -> str:
        """The address to send the person to. It holds no secret, and lets nobody in anywhere."""
        return f"http://{self.place}/{name}"

    def prompt(self, name: str) -> str | None:
        """What an open question asks; None where there is none of that name (any more)."""
        return self._prompts.get(name)

    def give(self, name: str, secret: str) -> bool:
        """The person typed it. Once: whoever comes second is told that the page is gone."""
        with self._lock:
            if self._prompts.pop(name, None) is None:
                return False
            self._given[name] = secret
            return True

    def take(self, name: str) -> str | None:
        """What was typed, for the server to keep; None as long as nobody has."""
        with self._lock:
            return self._given.pop(name, None)

    def drop(self, name: str) -> None:
        """The person declined: the page is closed, and what came too early is forgotten."""
        with self._lock:
            self._prompts.pop(name, None)
            self._given.pop(name, None)


def _listen(page: SecretPage) -> ThreadingHTTPServer:
    from http.server import ThreadingHTTPServer  # heavy, and most calls need no page

    http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(page))
    http.daemon_threads = True
    threading.Thread(target=http.serve_forever, daemon=True).start()
    return http


def _handler(page: SecretPage) -> type[BaseHTTPRequestHandler]:
    from http.server import BaseHTTPRequestHandler
    from urllib.parse import parse_qs

    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            if self._is_ours() and (prompt := page.prompt(self.path[1:])) is not None:
                self._say(200, FORM.format(prompt=html.escape(prompt), title=page.title))
            else:
                self._gone()

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length", "")
            if not length.isascii() or not length.isdigit() or int(length[:9]) > MAX_BODY:
                self.close_connection = True
                self._say(413, "<p>That is more than a secret.</p>")
                return
            typed = parse_qs(self.rfile.read(int(length)).decode("utf-8", "replace"))
            secret = typed.get("secret", [""])[0]
            if secret and self._is_ours() and page.give(self.path[1:], secret):
                self._say(200, "<p>Thank you. Close this tab and go back to the notebook.</p>")
            else:
                self._gone()

        def _is_ours(self) -> bool:
            """Reached under our own name, and from no other site (DNS rebinding, CSRF)."""
            origin = self.headers.get("Origin", f"http://{page.place}")
            return self.headers.get("Host") == page.place and origin == f"http://{page.place}"

        def _gone(self) -> None:
            self._say(404, "<p>There is nothing to fill in here (any more).</p>")

        def _say(self, status: int, body: str) -> None:
            payload = PAGE.format(title=html.escape(page.title), body=body).encode()
            self.send_response(status)
            for name, value in {**HEADERS, "Content-Length": str(len(payload))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *_: object) -> None:
            """Nothing: the address of a page is for one person."""

    return Handler
