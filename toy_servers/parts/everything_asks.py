"""What `everything` asks: a form, a model's words, the client's roots, one at a time or together.

A call that lacks an answer is answered with the questions; a retry that still lacks one, again.
Whatever has to be known in the next round goes out sealed (`mcp_bare.state`).

Sampling and roots are deprecated in this revision; the suite asks for them all the same.

Spec: basic/patterns/mrtr, client/elicitation, client/sampling, client/roots.
"""

from mcp_bare import elicitation
from mcp_bare.errors import InvalidParams
from mcp_bare.jsonrpc import brief
from mcp_bare.tape import compact

NOTHING = {"type": "object", "additionalProperties": False}


def field(message, name, kind="string"):
    """A form of one required field."""
    return elicitation.form(message, {name: {"type": kind}}, [name])


def sampling(words, most):
    message = {"role": "user", "content": {"type": "text", "text": words}}
    params = {"messages": [message], "maxTokens": most}
    return {"method": "sampling/createMessage", "params": params}


ROOTS = {"method": "roots/list", "params": {}}
NAME = {"user_name": field("What is your name?", "name")}
CAPITAL = {"capital_question": sampling("What is the capital of France?", 100)}
OK = {"confirm": field("Please confirm", "ok", "boolean")}
SEVERAL = {**NAME, "greeting": sampling("Generate a greeting", 50), "client_roots": ROOTS}
CONTEXT = {"user_context": field("What context should the prompt use?", "context")}
STEP_1 = {"step1": field("Step 1: What is your name?", "name")}
STEP_2 = {"step2": field("Step 2: What is your favorite color?", "color")}
PROOF = {"sampling/createMessage": "content", "roots/list": "roots"}
"""What an answer to each of these cannot do without."""


def answers(call, asked):
    """What came back for these questions, by key; None as long as one is unanswered.

    A form counts with its content, or with the word for leaving it: "decline", "cancel". Raises
    InvalidParams for what is no answer at all.
    """
    found = {}
    for key, request in asked.items():
        if request["method"] == "elicitation/create":
            answer = elicitation.read(call.input_responses, key, request)
            found[key] = answer.content if answer.action == "accept" else answer.action
        elif key in call.input_responses:
            found[key] = _checked(key, call.input_responses[key], PROOF[request["method"]])
        else:
            found[key] = "missing"
    return None if "missing" in found.values() else found


def _checked(key, given, due):
    if not isinstance(given, dict) or due not in given:
        raise InvalidParams(
            f"inputResponses[{key!r}] is {brief(given)}; an object with {due!r} is due"
        )
    return given[due]


def register(server, seal):
    """Put all of it on a server; `seal` closes what travels through the client."""

    def tool(name, description):
        return server.tool({"name": name, "description": description, "inputSchema": NOTHING})

    _one_round(tool)
    _sealed(tool, seal)

    @server.prompt({"name": "test_input_required_result_prompt", "description": "Ask, then say."})
    def prompt(call):
        told = answers(call, CONTEXT)
        return call.ask(CONTEXT) if told is None else f"Use this context: {compact(told)}"


def _one_round(tool):
    for name, asked in {
        "test_input_required_result_elicitation": NAME,
        "test_input_required_result_sampling": CAPITAL,
        "test_input_required_result_list_roots": {"client_roots": ROOTS},
        "test_missing_capability": CAPITAL,
    }.items():

        @tool(name, f"Ask for {', '.join(asked)}, and say what came.")
        def ask_once(call, asked=asked):
            told = answers(call, asked)
            return call.ask(asked) if told is None else f"You said: {compact(told)}"

    @tool("test_streaming_elicitation", "Report progress, then ask.")
    def stream(call):
        yield call.progress(1, 2, "about to ask")
        told = answers(call, NAME)
        return call.ask(NAME) if told is None else f"You said: {compact(told)}"

    @tool("test_input_required_result_capabilities", "Ask for what the client can answer.")
    def able(call):
        asked = {key: each for key, each in SEVERAL.items() if call.undeclared(each) is None}
        told = answers(call, asked)
        return call.ask(asked) if told is None else f"You said: {compact(told)}"


def _sealed(tool, seal):
    for name, asked in {
        "test_input_required_result_request_state": OK,
        "test_input_required_result_tampered_state": OK,
        "test_input_required_result_multiple_inputs": SEVERAL,
    }.items():

        @tool(name, f"Ask for {', '.join(asked)}, with a state that only this call can bring back.")
        def ask_sealed(call, asked=asked):
            known = _opened(seal, call)
            told = answers(call, asked) if known else None
            if told is None:
                return call.ask(asked, seal.close({"asked": sorted(asked)}, call))
            return f"state-ok: {compact(told)}"

    @tool("test_input_required_result_multi_round", "Ask for a name, then for a colour.")
    def two_rounds(call):
        known = _opened(seal, call)
        if "name" not in known:
            told = answers(call, STEP_1) if known else None
            if told is None:
                return call.ask(STEP_1, seal.close({"round": 1}, call))
            known = {"name": told["step1"]}
            return call.ask(STEP_2, seal.close(known, call))
        told = answers(call, STEP_2)
        if told is None:
            return call.ask(STEP_2, seal.close(known, call))
        return f"Known: {compact({**known, 'color': told['step2']})}"


def _opened(seal, call):
    """What an earlier round left for this one; {} in the first. Raises StateRejected."""
    return {} if call.request_state is None else seal.open(call.request_state, call)
