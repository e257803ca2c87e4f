"""Everything that a run leaves in its folder besides the results: tables and pages.

Does not handle: what stands in them (`gradebook`, `feedback`).
"""

from dataclasses import replace
from pathlib import Path

from classroom import feedback, gradebook, roll
from classroom.files import safe_name, write
from classroom.gradebook import Marks
from classroom.result import Result


def write_all(results: list[Result], marks: Marks, out: Path) -> None:
    """Write the tables, the answers in words, and a page for each learner."""
    known, twins = roll.learners(results), roll.twins(results)
    noted = [
        replace(result, notes=(*result.notes, *filter(None, [twins.get(result.submission)])))
        for result in results
    ]
    gradebook.write_csv(out / "grades.csv", gradebook.GRADES, gradebook.rows(noted, marks))
    columns, rows = gradebook.totals(results, marks, known)
    gradebook.write_csv(out / "totals.csv", columns, rows)
    if asked := gradebook.asked(results, marks):
        gradebook.write_csv(out / gradebook.WORDS, gradebook.WRITTEN, asked)
        write(out / "written.html", feedback.written_page(results, marks))
    for learner in set(known.values()):
        theirs = [result for result in results if known[result.submission] == learner]
        page = feedback.page(learner, theirs, marks)
        write(out / "feedback" / f"{safe_name(learner)}.html", page)
