"""What came of a submission: one frozen value, that goes into a JSON file and comes back the same.

Does not handle: deciding any of it (`grade`), or showing it (`tables`, `feedback`).
"""

import json
from dataclasses import asdict, dataclass
from typing import Any

GRADED, REFUSED, ERROR = "graded", "refused", "error"
"""`refused`: the file cannot be graded, and its learner is told why. `error`: we failed, not they:
such a submission has no score at all, and is graded again the next time."""
PASSED = "passed"


@dataclass(frozen=True)
class StageResult:
    """One stage: what its two checks said ("passed", "wrong", "late", ...), and the words.

    `hidden` is "" where it did not run. `said` is the message of the check that failed: what was
    sent, what the clause wants, what to try. Where the hidden check failed, that is for the teacher
    only: it holds inputs that a learner must not see.
    """

    stage: str
    points: float
    score: float
    visible: str
    hidden: str
    said: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return self.visible == self.hidden == PASSED


@dataclass(frozen=True)
class Written:
    """An answer in words, set aside for a person; `text` is empty where nothing was written."""

    name: str
    points: float
    question: str
    text: str


@dataclass(frozen=True)
class Result:
    """All that the grader found in one file."""

    submission: str
    student: str
    exercise: str
    status: str
    title: str = ""
    stages: tuple[StageResult, ...] = ()
    written: tuple[Written, ...] = ()
    notes: tuple[str, ...] = ()
    answers: str = ""
    """A digest of the learner's own text: two with the same wrote the same, letter for letter."""

    @property
    def score(self) -> float:
        """The points of the stages; answers in words come on top once they are graded."""
        return sum(stage.score for stage in self.stages)

    @property
    def points(self) -> float:
        return sum(stage.points for stage in self.stages)


def to_json(result: Result, inputs: str) -> str:
    """The file of a result; `inputs` is the digest of all that it depends on."""
    told = {"inputs": inputs, **asdict(result), "score": result.score, "points": result.points}
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def from_json(text: str) -> tuple[Result, str]:
    """The result and the digest of its inputs. Raises ValueError where the file is not one."""
    try:
        told: dict[str, Any] = json.loads(text)
        stages = [StageResult(**{**each, "said": tuple(each["said"])}) for each in told["stages"]]
        result = Result(
            submission=told["submission"],
            student=told["student"],
            exercise=told["exercise"],
            status=told["status"],
            title=told["title"],
            stages=tuple(stages),
            written=tuple(Written(**each) for each in told["written"]),
            notes=tuple(told["notes"]),
            answers=told["answers"],
        )
        return result, told["inputs"]
    except (KeyError, TypeError) as trouble:
        raise ValueError(f"no result of the grader: {trouble}") from None
