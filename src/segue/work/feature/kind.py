"""A feature: a design with checkpoints, and its state in `.develop-workflow`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from segue.engine.kind import FileKind, Skippable
from segue.engine.standing import Known, Standing


class FeatureKind(FileKind):
    name = "develop"
    marks = (".develop-workflow/state.yaml",)

    def standing(self, path: Path, known: Known) -> Standing:
        from segue.work.feature.standing import standing  # noqa: PLC0415 - most folders have none

        return standing(path, known)

    def facts(self, standing: Standing) -> dict[str, Any]:
        from segue.work.feature.standing import facts  # noqa: PLC0415 - most folders have none

        return facts(standing)

    def find_task(self, standing: Standing, name: str) -> Skippable | None:
        from segue.work.feature.unskip import find_task  # noqa: PLC0415 - few commands ask

        return find_task(standing, name)
