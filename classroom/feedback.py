"""A page a learner: what passes, what does not and why, and what a person said to their words.

Of a hidden check a page says only that it failed: its inputs stay hidden, so nothing that a
learner's code said while it ran is shown. Everything else of theirs is text, never HTML; the page
runs no script and loads nothing.

`written_page` is for the teacher: the answers in words, to read side by side.

Does not handle: who the learners are (`roll.learners`), or the tables (`gradebook`).
"""

from collections.abc import Iterable
from html import escape

from classroom.gradebook import Mark, Marks, mark_of, plain, total
from classroom.result import ERROR, GRADED, PASSED, Result, StageResult, Written
from workbench.checks.wrong import LABELS

STYLE = """\
:root { color-scheme: light dark; --ink: #1f2328; --soft: #656d76; --line: #d0d7de;
  --back: #fff; --box: #f6f8fa; --good: #1a7f37; --bad: #b3470f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9198a1; --line: #3d444d;
  --back: #0d1117; --box: #151b23; --good: #4fc26b; --bad: #f0883e; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back);
  max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
h2 .points, h3 .points { float: right; font-weight: normal; color: var(--soft); }
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; border-top: 1px solid var(--line);
  padding-top: .8rem; overflow-wrap: anywhere; }
.good { color: var(--good); } .bad { color: var(--bad); } .soft { color: var(--soft); }
dl { background: var(--box); border-left: 3px solid var(--bad);
  margin: .5rem 0; padding: .6rem 1rem;
  display: grid; grid-template-columns: 9.5rem 1fr; gap: .3rem .8rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
dd.sent { font: .9em/1.5 ui-monospace, monospace; }
blockquote { white-space: pre-wrap; overflow-wrap: anywhere; margin: .5rem 0; padding: .4rem 1rem;
  border-left: 3px solid var(--line); background: var(--box); }
p { margin: .3rem 0; overflow-wrap: anywhere; }
@media (max-width: 34rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .5rem; } }
"""
HEAD = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="robots" content="noindex">
"""
HIDDEN = {
    "late": "With other values your code did not come back within five seconds.",
    "died": "With other values your code ended its process.",
    "flood": "With other values your code wrote without end.",
    "out of time": "There was no time left to ask it.",
}
UNSHOWN = "\N{REPLACEMENT CHARACTER}"
SAME = (
    "It asks for more of the same: read the text of the stage again, and look for what fits only "
    "the values that you saw."
)


def page(learner: str, results: Iterable[Result], marks: Marks) -> str:
    """The feedback page of one learner."""
    results = sorted(results, key=lambda result: (result.exercise, result.submission))
    body = [f"<h1>Feedback for {_text(learner)}</h1>"]
    for result in results:
        body += _exercise(result, marks)
    return _page(f"Feedback for {learner}", body)


def _exercise(result: Result, marks: Marks) -> Iterable[str]:
    name = result.title or result.exercise or "A file that could not be graded"
    most = result.points + sum(answer.points for answer in result.written)
    points = f"{plain(total(result, marks))} of {_points(most)}" if result.status == GRADED else ""
    yield f'<h2>{_text(name)} <span class="points">{points}</span></h2>'
    yield f'<p class="soft">{_text(result.submission)}</p>'
    if result.status == ERROR:
        yield '<p class="bad">It could not be graded, and that is not your doing. It has no score'
        yield "yet; your teacher will grade it again.</p>"
        return
    shade = "soft" if result.status == GRADED else "bad"
    yield from (f'<p class="{shade}">{_text(_sentence(note))}</p>' for note in result.notes)
    for stage in result.stages:
        yield from _stage(stage)
    for answer in result.written:
        yield from _in_words(answer, mark_of(marks, result, answer))


def _stage(stage: StageResult) -> Iterable[str]:
    points = f"{plain(stage.score)} of {_points(stage.points)}"
    yield f'<h3>Stage {_text(stage.stage)} <span class="points">{points}</span></h3>'
    if stage.passed:
        yield '<p class="good">✓ It passes the visible check and the hidden one.</p>'
    elif stage.visible == PASSED:
        yield '<p class="good">✓ It passes the visible check.</p>'
        why = HIDDEN.get(stage.hidden, SAME)
        yield f'<p class="bad">✗ It does not pass the hidden one. {why}</p>'
    elif len(stage.said) == len(LABELS):
        yield '<p class="bad">✗ It does not pass the visible check.</p><dl>'
        for label, words in zip(LABELS, stage.said, strict=True):
            kind = ' class="sent"' if label == LABELS[0] else ""
            yield f"<dt>{label}</dt><dd{kind}>{_text(words)}</dd>"
        yield "</dl>"
    else:
        sign = "" if stage.visible == "not yet" else "✗ "
        yield f'<p class="bad">{sign}{_text(_sentence(" ".join(stage.said)))}</p>'


def _in_words(answer: Written, mark: Mark | None) -> Iterable[str]:
    given = plain(mark.score or 0) if mark else "–" if answer.text else 0
    points = f"{given} of {_points(answer.points)}"
    yield f'<h3>In your words: {_text(answer.name)} <span class="points">{points}</span></h3>'
    if not answer.text:
        yield '<p class="bad">Nothing is written.</p>'
        return
    yield f"<blockquote>{_text(answer.text)}</blockquote>"
    if mark is None:
        yield '<p class="soft">A person will read it.</p>'
    elif mark.comment:
        yield f"<p>{_text(mark.comment)}</p>"


def written_page(results: Iterable[Result], marks: Marks) -> str:
    """All answers in words, question by question, for the teacher."""
    questions: dict[tuple[str, str], list[tuple[Result, Written]]] = {}
    for result in results:
        for answer in result.written:
            if answer.text:
                questions.setdefault((result.exercise, answer.name), []).append((result, answer))
    body = ["<h1>Answers in words</h1>"]
    body += [
        "<p>Write the scores into <code>written.csv</code>, then run <code>grade</code> again.</p>"
    ]
    for (exercise, name), answers in sorted(questions.items()):
        points = f'<span class="points">{_points(answers[0][1].points)}</span>'
        body.append(f"<h2>{_text(exercise)}: {_text(name)} {points}</h2>")
        body.append(f"<p>{_text(_question(answers[0][1].question))}</p>")
        for result, answer in answers:
            mark = mark_of(marks, result, answer)
            given = plain(mark.score) if mark else "–"
            body.append(f'<h3>{_text(result.submission)} <span class="points">{given}</span></h3>')
            body.append(f"<blockquote>{_text(answer.text)}</blockquote>")
    return _page("Answers in words", body)


def _question(prompt: str) -> str:
    """The question without its last line, in which the answer stands, and without its heading,
    where the heading is not all there is."""
    lines = prompt.strip().splitlines()[:-1]
    words = "\n".join(line for line in lines if not line.startswith("#")).strip()
    return words or "\n".join(line.lstrip("# ") for line in lines)


def _page(title: str, body: Iterable[str]) -> str:
    head = f"{HEAD}<title>{_text(title)}</title>\n<style>\n{STYLE}</style>\n"
    return head + "\n".join(body) + "\n</html>\n"


def _text(text: str) -> str:
    """A stranger's text as HTML; what a terminal or a page would act on is shown, not done."""
    shown = (each if each.isprintable() or each in "\n\t" else UNSHOWN for each in text)
    return escape("".join(shown))


def _sentence(note: str) -> str:
    text = note[:1].upper() + note[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _points(points: float) -> str:
    return f"{plain(points)} point" + ("" if points == 1 else "s")
