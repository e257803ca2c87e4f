"""Authorization, both ends, for the transports that need it (HTTP; stdio takes the environment).

The server's end, from the wire inwards:
    challenge   the WWW-Authenticate header, read and written
    metadata    which URL says what: canonical resources, well-known paths, the document
    tokens      a token's shape and signature
    ladder      a token's claims, rung by rung
    guard       the face of all that: admit a request, or refuse it with the right status

The client's end, in the order of the flow:
    fetch         one careful HTTP request
    discovery     from a refusal to the authorization server
    registration  who we are there; the wallet that keeps each issuer's things apart
    pkce, flow    the authorization request and its answer
    client_auth   how we prove who we are
    grants        the token endpoint: a code for tokens, a refresh
    user_agent    who carries the authorization URL to the person
    authorizer    the face of all that: a header, and what to do when it is refused

Either end:
    errors        what can go wrong

Spec: basic/authorization.
"""
