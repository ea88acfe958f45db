"""A feature: a design with checkpoints, and its state in `.develop-workflow`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from segue.work.kind import FileKind
from segue.work.standing import Known, Standing


class FeatureKind(FileKind):
    name = "develop"
    marks = (".develop-workflow/state.yaml",)

    def standing(self, path: Path, known: Known) -> Standing:
        from segue.work.feature.standing import standing  # noqa: PLC0415 - most folders have none

        return standing(path, known)

    def facts(self, standing: Standing) -> dict[str, Any]:
        from segue.work.feature.standing import facts  # noqa: PLC0415 - most folders have none

        return facts(standing)
