"""A front door for several replicas: each request goes to the next one, whoever sent it.

    with Front(["http://127.0.0.1:8001/mcp", "http://127.0.0.1:8002/mcp"]) as front:
        print(front.url)

It remembers nothing of a client, as a load balancer should that serves a stateless protocol. Does
not handle: streams (it waits for the whole answer), TLS, a replica that is down.
"""

import http.client
import itertools
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

PASSED_ON = ("content-type", "www-authenticate", "allow", "cache-control")


class Front(ThreadingHTTPServer):
    """Round robin over `replicas`, URLs; `taken` says which replica got which request."""

    daemon_threads = True

    def __init__(self, replicas, port=0):
        super().__init__(("127.0.0.1", port), _Door)
        self.replicas, self.taken = list(replicas), []
        self._turn, self._lock = itertools.cycle(range(len(self.replicas))), threading.Lock()
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/mcp"

    def next_replica(self):
        with self._lock:
            number = next(self._turn)
            self.taken.append(number)
            return self.replicas[number]

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class _Door(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        place = urlsplit(self.server.next_replica())
        kept = {k: v for k, v in self.headers.items() if k.lower() not in ("host", "connection")}
        replica = http.client.HTTPConnection(place.netloc, timeout=30)
        try:
            replica.request("POST", place.path, body, kept)
            answer = replica.getresponse()
            content = answer.read()
        finally:
            replica.close()
        self.send_response(answer.status)
        for name in PASSED_ON:
            if answer.getheader(name):
                self.send_header(name, answer.getheader(name))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format, *args):
        pass  # a front door does not talk
