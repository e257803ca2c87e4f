"""Prints what each wrong answer and each blank of an exercise is told, to be read.

python -m tests.exercises ch26/01_frame_and_parse
"""

import sys

from tests.exercises import answers
from tests.exercises.conftest import NAMES, read

asked = sys.argv[1:] or NAMES
for name in (name for name in NAMES if any(text in name for text in asked)):
    (cases,) = answers.verdicts_of_wrong_ones([read(name)]).values()
    for case in cases:
        print(f"\n== {name}, stage {case.stage}: {case.what}")
        print("   PASSES" if case.verdict.passed else case.verdict.wrong)
    for stage, which, verdict in answers.verdicts_of_the_model(read(name)):
        if not verdict.passed:
            print(f"\n== {name}, stage {stage}: THE MODEL ANSWER, {which}\n{verdict.wrong}")
