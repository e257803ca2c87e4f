"""The cycle of nbgrader itself, in its own process: collect, autograde, export, generate_feedback.

    python nbgrader_cycle.py SCRATCH ch26/01_frame_and_parse ...

Two learners hand in: `model` the solutions, `blank` the exercises as they are. The assignment is
put into the gradebook as generate_assignment would, from the released notebooks. It leaves SCRATCH/
grades.csv and SCRATCH/course/feedback, and prints every graded cell as JSON.
"""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.apps import ExportApp, NbGraderAPI
from nbgrader.preprocessors import ComputeChecksums, SaveCells
from traitlets.config import Config

ROOT = Path(__file__).resolve().parents[2]
WHEN = "2026-11-30 12:00:00 UTC"
LEARNERS = {"model": ROOT / "solutions", "blank": ROOT / "exercises"}


def settings(scratch: Path) -> Config:
    """A course of its own, and an exchange of its own."""
    config = Config()
    config.CourseDirectory.root = str(scratch / "course")
    config.CourseDirectory.course_id = config.Exchange.course_id = "mcp"
    config.Exchange.root = str(scratch / "exchange")
    config.ExchangeCollect.check_owner = False
    config.ExecutePreprocessor.timeout = 60
    return config


def hand_in(scratch: Path, exercises: list[str]) -> None:
    """What `nbgrader submit` leaves in the exchange."""
    for learner, folder in LEARNERS.items():
        for exercise in exercises:
            chapter, _, name = exercise.partition("/")
            place = scratch / "exchange/mcp/inbound" / f"{learner}+{chapter}+{WHEN}+0"
            place.mkdir(parents=True, exist_ok=True)
            (place / "timestamp.txt").write_text(WHEN)
            shutil.copy(folder / f"{exercise}.ipynb", place / f"{name}.ipynb")


def register(api: NbGraderAPI, config: Config, exercise: str) -> None:
    """Put the released notebook into the gradebook, and beside it for the feedback."""
    chapter, _, name = exercise.partition("/")
    path = Path(config.CourseDirectory.root) / "source" / chapter / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "exercises" / f"{exercise}.ipynb", path)
    about = {"assignment": chapter, "notebook": name, "db_url": api.coursedir.db_url}
    notebook, resources = nbformat.read(path, 4), {"nbgrader": about}
    for step in (ComputeChecksums, SaveCells):
        notebook, resources = step(config=config).preprocess(notebook, resources)


def done(step: str, told: dict[str, Any]) -> None:
    if not told["success"]:
        sys.exit(f"{step}: {told.get('error')}\n{told['log']}")


def main() -> None:
    """Run the cycle."""
    scratch, exercises = Path(sys.argv[1]), sys.argv[2:]
    config = settings(scratch)
    hand_in(scratch, exercises)
    (scratch / "course").mkdir()
    os.chdir(scratch / "course")
    api = NbGraderAPI(config=config)
    chapters = sorted({exercise.partition("/")[0] for exercise in exercises})
    with api.gradebook as gradebook:
        for chapter in chapters:
            gradebook.add_assignment(chapter)
    for exercise in exercises:
        register(api, config, exercise)
    for chapter in chapters:
        done("collect", api.collect(chapter))
        for learner in LEARNERS:
            done(f"autograde {learner}", api.autograde(chapter, learner))
        done("generate_feedback", api.generate_feedback(chapter))
    export = ExportApp(config=config)
    export.initialize([f"--to={scratch / 'grades.csv'}"])
    export.start()
    print(json.dumps(cells(api, chapters)))


def cells(api: NbGraderAPI, chapters: list[str]) -> list[dict[str, Any]]:
    """Every graded cell of every learner."""
    with api.gradebook as gradebook:
        return [
            {
                "learner": handed_in.student.id,
                "exercise": f"{chapter}/{notebook.name}",
                "cell": grade.name,
                "auto": grade.auto_score,
                "most": grade.max_score,
            }
            for chapter in chapters
            for handed_in in gradebook.assignment_submissions(chapter)
            for notebook in handed_in.notebooks
            for grade in notebook.grades
        ]


if __name__ == "__main__":
    main()
