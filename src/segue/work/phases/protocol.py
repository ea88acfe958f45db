"""How an agent of the server reports: the part of its prompt that explains the protocol.

The completion markers stand within lines: an agent that merely repeats its prompt completes
nothing. The blocks have `…` for values, which are never taken for ones.
"""

from __future__ import annotations

from segue.i18n import _


def how_to_report(phase: int | None, nonce: str | None, has_tools: bool) -> str:
    """For a phase, or for a task without phases. `nonce` where its words are not known to be its
    own (plain text); `has_tools` where it was given Segue's tools."""
    parts = _by_tool(phase, nonce) if has_tools else _by_text(phase, nonce)
    return "\n".join([_("## How to report"), *parts])


def _by_tool(phase: int | None, nonce: str | None) -> list[str]:
    parts = []
    if phase is None:
        parts.append(
            _("When everything is done and you have checked it, call the tool `complete_task`.")
        )
    else:
        parts.append(_("When step N is done, call the tool `report_step` with its number."))
        text = _(
            "When phase {n} is done and you have checked it, call `complete_phase` with phase {n}."
        )
        parts.append(text.format(n=phase))
    parts.append(_("Without that tool, print this line alone:") + " " + _completion(phase, nonce))
    parts.append(
        _(
            "If only a person can decide something, call `ask_question`. If only a "
            "person can provide something (a key, a file, a permission), call "
            "`request_dependency`. If you cannot fix an error, call `report_error`. "
            "Then end your turn."
        )
    )
    return parts


def _by_text(phase: int | None, nonce: str | None) -> list[str]:
    parts = [
        _(
            "Print the lines below exactly as shown, not indented and not in a code "
            "fence. Stop after each of them, except after the line of a step."
        )
    ]
    if phase is None:
        text = _("When everything is done and you have checked it, print this line alone:")
        parts.append(f"{text} {_completion(phase, nonce)}")
    else:
        text = _("When step N is done, print this line alone (N is its number):")
        parts.append(f"{text} {_line('STEP N DONE', nonce)}")
        text = _("When phase {n} is done and you have checked it, print this line alone:")
        parts.append(f"{text.format(n=phase)} {_completion(phase, nonce)}")
    parts.append(
        _(
            "If you need something that only a person can provide (type: api_key, env_variable,"
            " service, file, permission or package; a key or a variable comes in your environment"
            " by its name):"
        )
    )
    parts += _block(
        "DEPENDENCY_REQUEST",
        nonce,
        ["type: api_key", "name: …", "description: …", "required: true"],
    )
    parts.append(
        _(
            "If you need a decision (category: business, clarification, choice or confirmation)."
            " With `required: false` and `deadline: 2h` the default is taken after that time:"
        )
    )
    parts += _block(
        "USER_QUESTION",
        nonce,
        ["category: choice", "question: …", "options:", "  - …", "  - …", "default: …"],
    )
    parts.append(
        _(
            "If an error stops you (type: recoverable or fatal; recovery: pause_and_retry to be"
            " started again later, notify_user, or checkpoint_and_fail):"
        )
    )
    parts += _block(
        "ERROR", nonce, ["type: recoverable", "message: …", "recovery: pause_and_retry"]
    )
    return parts


def _completion(phase: int | None, nonce: str | None) -> str:
    words = "CUSTOM TASK COMPLETE" if phase is None else f"PHASE {phase} COMPLETE"
    return _line(words, nonce)


def _line(words: str, nonce: str | None) -> str:
    return f"=== {words} {nonce} ===" if nonce else f"=== {words} ==="


def _block(name: str, nonce: str | None, lines: list[str]) -> list[str]:
    return [f"[{name} {nonce}]" if nonce else f"[{name}]", *lines, f"[/{name}]"]
