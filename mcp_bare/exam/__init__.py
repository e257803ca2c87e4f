"""The parts of the exam over stdio; its face is `mcp_bare.check`.

What is sent:
    sittings          what is asked in each process
    order             when each is sat, and beside which
    ids               requests in full, numbered
    samples           made-up arguments and answers
    halves            a call that asks back, and its retry
    learned           what the first sitting found out

What comes:
    process           one process of the server: asked, waited for, ended
    heard             its output, read and kept
    lines             a line, read strictly and then leniently
    record            what is kept when the process is gone

What is right:
    rule              what a rule is, and a verdict
    rules_lines       what may stand on stdout
    rules_answers     who is answered
    rules_process     how it leaves
    rules_refusals    discovery, and what must be refused
    rules_results     types, cache fields, schemas
    shapes            results, member by member
    rules_asking      what a server may ask
    rules_streams     what comes beside an answer
    report            the verdicts as a page
"""
