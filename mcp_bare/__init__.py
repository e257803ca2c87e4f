"""The Model Context Protocol on the raw wire, with the standard library alone.

Read the modules in this order.

    the facts       revision                        all that one specification date decides
    one message     jsonrpc, framing, errors        a dict, its bytes, its line, its refusals
    a server        call, server, features          what a request carries, who answers it, how
                    subscriptions, json_schema      what is held open; does a value fit?
                    pattern, pattern_tree           does a text, in bounded time?
    a client        exchange, client, results       ids and answers; methods; what came, checked
                    cache, listening                what may be kept; who listens
    two eras        era, legacy                     which one is this, and how to speak the old one
    asking          elicitation, credentials, state forms, secrets, what travels in between
    a host          host, trust, addresses          many servers, and what to believe of them
    pipes           stdio, connection, child,       a server's end, and a client's: a process
                    pipe_io, reaper, memory         that ends with us; no wire at all
                    watch                           work that lasts
    HTTP            streamable_http                 the face; what is behind it stands there
    OAuth           auth                            the ladder, and the client's way up
    to look at      tape, arrows, tape_file         what went over a wire, how it reads, its file
                    recording, tap                  written as it goes, between any two programs
    an exam         check, exam                     does a server keep the rules? its parts
    a terminal      __main__, doctor                probe, call, check, tap; is everything here?

Nothing is imported here, so that starting a server loads only what a server needs.
"""

__version__ = "0.1.0"
