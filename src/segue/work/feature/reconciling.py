"""The marks of the state file and the checkpoints of the design, brought together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from segue.core.develop import Checkpoint, Feature, Status, report
from segue.errors import UserError
from segue.i18n import _
from segue.plans import checkpoints as document
from segue.plans import develop_state
from segue.plans.checkpoints import CheckpointsError
from segue.work.feature.folder import FeatureFolder


def checkpoints_in(design: Path) -> list[Checkpoint]:
    """The checkpoints of a design document; UserError where they cannot be read."""
    try:
        return document.read(design.read_text("utf-8", "replace"))
    except (OSError, CheckpointsError) as error:
        raise UserError(
            "bad_checkpoints",
            _("cannot read the checkpoints: {why}").format(why=error),
            file=str(design),
            line=error.line if isinstance(error, CheckpointsError) else None,
            hint=_("fix the block `yaml checkpoints`, or start over: segue develop --fresh"),
        ) from error


def check(
    feature: Feature, data: bytes, checkpoints: Sequence[Checkpoint], folder: FeatureFolder
) -> None:
    """What is not finished, and what cannot be finished because the design does not have it, is for
    a person to settle: otherwise it would be lost without a word."""
    strays = {
        id: one
        for id, one in without(feature, checkpoints).checkpoints.items()
        if one.status is not Status.PASSED
    }
    if not strays:
        return
    text = _("not finished, but no longer in the design: {ids}")
    raise UserError(
        "unknown_checkpoint",
        text.format(ids=report(replace(feature, checkpoints=strays))),
        file=str(folder.state_file),
        line=develop_state.where(next(iter(strays)), data)[0],
        hint=_("put it back into {design}, or remove its line from the state").format(
            design=folder.design(feature.feature)
        ),
    )


def without(feature: Feature, checkpoints: Sequence[Checkpoint]) -> Feature:
    """The marks of the state that belong to no checkpoint of the design."""
    known = {one.id for one in checkpoints}
    strays = {id: one for id, one in feature.checkpoints.items() if id not in known}
    return replace(feature, checkpoints=strays)


def differences(feature: Feature, checkpoints: Sequence[Checkpoint]) -> list[str]:
    """What only one of the two has, in words."""
    told = []
    strays = without(feature, checkpoints)
    if strays.checkpoints:
        text = _("the state has checkpoints that are not in the design: {ids}")
        told.append(text.format(ids=report(strays)))
    new = [one.id for one in checkpoints if one.id not in feature.checkpoints]
    if new and feature.checkpoints:
        text = _("the design has checkpoints that are not in the state: {ids}")
        told.append(text.format(ids=", ".join(new)))
    return told


def changed_meanwhile(written: Feature, found: Feature) -> str:
    """What a person changed of phase and marks since they were written; nothing: an empty text."""
    marks = {
        id: one for id, one in found.checkpoints.items() if one != written.checkpoints.get(id, one)
    }
    phase = [str(found.phase)] if found.phase is not written.phase else []
    return ", ".join([*phase, *([report(replace(found, checkpoints=marks))] if marks else ())])
