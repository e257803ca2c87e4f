"""Streamable HTTP, both ends. This is the face; what is behind it, a module for an idea each:

    both            headers, mirrors    what a request's headers repeat of its body
                    sse                 a stream of events
    the server      http_server         a server at an address
                    http_listener       its socket, its connections, its end
                    poller              one thread that waits for all of them
                    http_connection     one connection, one request after the other
                    http_wire           its socket, which never holds others up
                    http_request        a request off the wire, strictly
                    http_rules          may it be served?
                    http_reply          what is said to it, by a handler that may last
                    outbox, http_answer the messages of a response, and how they are written
    the client      http_client         a transport for a Client
                    http_link           what its messages have in common
                    http_pool           connections
                    http_post           one message
                    http_again          may it be sent again?
                    http_learned        what answers teach about the next request

Spec: basic/transports/streamable-http.
"""

from mcp_bare.http_client import HttpTransport
from mcp_bare.http_listener import Limits
from mcp_bare.http_server import HttpServer, serve

__all__ = ["HttpServer", "HttpTransport", "Limits", "serve"]
