"""The Model Context Protocol on the raw wire, with the standard library alone.

Read the modules in this order: `revision` (what one specification date decides), `jsonrpc` and
`framing` (one message, one line), `errors`, `server`, `connection`, `exchange`, `client`, `era`,
`legacy`; then the thin hands: `stdio`, `memory`; then what helps a person see: `tape`.

Nothing is imported here, so that starting a server loads only what a server needs.
"""

__version__ = "0.1.0"
