"""Events in words: one line for each thing that happened, for people who read a pipe."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from segue.cli import book_events
from segue.core.durations import format_duration
from segue.i18n import _

Facts = Mapping[str, Any]


def _started(f: Facts) -> str:
    again = _(" (try {n})").format(n=f["attempt"]) if f["attempt"] > 1 else ""
    return _("▶ {task} {title}{again}").format(task=f["task"], title=f["title"], again=again)


def _completed(f: Facts) -> str:
    time = format_duration(f["seconds"])
    return _("✔ {task} completed in {time}").format(task=f["task"], time=time)


def _failed(f: Facts) -> str:
    return _("✘ {task} failed: {error}").format(task=f["task"], error=f["error"])


def _skipped(f: Facts) -> str:
    if f.get("because"):
        return _("⊘ {task} skipped: it depends on {because}").format(
            task=f["task"], because=f["because"]
        )
    text = _("⊘ {task} skipped").format(task=f["task"])
    if f.get("why"):
        text = _("⊘ {task} skipped: {why}").format(task=f["task"], why=f["why"])
    return text + " " + _("(undo: segue unskip {task})").format(task=f["task"])


def _parked(f: Facts) -> str:
    if f["kind"] == "conversation":
        return _("⏳ {task} waits: its conversation is in use by {other} of {plan}").format(
            task=f["task"], other=f["held_by"]["task"], plan=f["held_by"]["plan"]
        )
    if f["wakes_at"] is None:
        return _("⏳ {task} not started: {kind}").format(task=f["task"], kind=limit_name(f["kind"]))
    return _("⏳ {task} parked: {kind}, resumes at {time}").format(
        task=f["task"], kind=limit_name(f["kind"]), time=local_time(f["wakes_at"])
    )


def _resumed(f: Facts) -> str:
    if f.get("purpose") == "compact":
        return _("▶ {task}: compacting its conversation").format(task=f["task"])
    if f.get("purpose") == "afresh":
        return _("▶ {task} resumed in a new conversation with a summary").format(task=f["task"])
    return _("▶ {task} resumed").format(task=f["task"])


def _retrying(f: Facts) -> str:
    return _("↻ retrying {task} ({n}/{most}): {error}").format(
        task=f["task"], n=f["retry"], most=f["retries"], error=f["error"]
    )


def _gate(f: Facts) -> str:
    if f["task"] is None:
        return f"❓ {f['text']}"
    return _("❓ {task} asks: {text}").format(task=f["task"], text=f["text"])


def _answered(f: Facts) -> str:
    if f["by"] == "deadline":
        text = _("⏰ {task}: no answer by the deadline, Segue uses the default: {answer}")
        return text.format(task=f["task"], answer=_one_line(f["answer"]))
    if f["task"] is None:
        return _("✉ answered by {by}").format(by=f["by"])
    return _("✉ {task} answered by {by}").format(task=f["task"], by=f["by"])


def _broken(f: Facts) -> str:
    where = f["file"] if f["line"] is None else f"{f['file']}:{f['line']}"
    return _("✋ the plan is not valid right now: {where}: {message}").format(
        where=where, message=f["message"]
    )


def _edited(f: Facts) -> str:
    if f["new"]:
        return _("✎ the plan was edited; new: {tasks}").format(tasks=", ".join(f["new"]))
    return _("✎ the plan was edited")


def _problem(f: Facts) -> str:
    return _("⚠ {task} blocks {n}: {tasks}").format(
        task=f["task"], n=len(f["holds"]), tasks=", ".join(f["holds"])
    )


def _agent_retrying(f: Facts) -> str:
    why = f["text"] or f["status"] or _("an error from its model")
    return _("↻ {task}: its agent retries by itself ({n}/{most}): {why}").format(
        task=f["task"], n=f["attempt"], most=f["attempts_max"] or "…", why=why
    )


def _permission(f: Facts) -> str | None:
    if f["verdict"] != "deny":
        return None  # allowed by the rules, or asked about: that has an event of its own
    return _("⛔ {task} may not use {tool}: {what}").format(**f)


def _silent(f: Facts) -> str:
    from segue.engine.executors import Look  # noqa: PLC0415 - few runs are silent
    from segue.engine.silence import LongSilence  # noqa: PLC0415

    seen = Look(tuple(f["processes"]), f["stopped"], f["connections"]) if f["is_alive"] else None
    return LongSilence(f["seconds"], seen).in_words(f["task"])


WORDS: dict[str, Callable[[Facts], str | None]] = {
    "task_started": _started,
    "task_completed": _completed,
    "task_failed": _failed,
    "task_skipped": _skipped,
    "task_parked": _parked,
    "task_resumed": _resumed,
    "task_handed_over": lambda f: _("⇄ {agent} takes over {task} until {time}").format(
        task=f["task"], agent=f["agent"], time=local_time(f["until"])
    ),
    "task_retrying": _retrying,
    "task_verifying": lambda f: _("… checking {task}: {command}").format(
        task=f["task"], command=_one_line(f["command"])
    ),
    "task_restarted": lambda f: _("↺ {task} starts again from the beginning: {why}").format(**f),
    "task_reopened": lambda f: _("○ {task} reopened").format(**f),
    "task_retried": lambda f: _("↻ retrying {task} once more").format(**f),
    "run_adopted": lambda f: _("⚯ {task} was still running; Segue follows it again").format(**f),
    "run_dropped": lambda f: _("⏹ Segue ended {task}: {why}").format(**f),
    "park_kept": lambda f: _("⏳ {task} is still parked until {time}").format(
        task=f["task"], time=local_time(f["wakes_at"])
    ),
    "step_done": lambda f: _("  · {task} step {step}: {text}").format(**f),
    "gate_opened": _gate,
    "gate_answered": _answered,
    "permission_asked": _permission,
    "agent_retrying": _agent_retrying,
    "task_silent": _silent,
    "conversation_lost": lambda f: _(
        "⚠ {task}: its agent no longer has the conversation; it starts a new one with a summary"
    ).format(task=f["task"]),
    "plan_broken": _broken,
    "plan_edited": _edited,
    "mark_edited": lambda f: _("✎ {task} was marked manually: {now}").format(
        task=f["task"], now=state_name(f["now"])
    ),
    "mark_restored": lambda f: _("✎ {task} keeps its mark: {state}").format(
        task=f["task"], state=state_name(f["state"])
    ),
    "dependency_problem": _problem,
    "chapter_judged": book_events.judged,
    "chapter_completed": book_events.completed,
    "chapter_failed": book_events.failed,
    "chapter_skipped": book_events.skipped,
    "breaker_tripped": book_events.tripped,
    "book_paused": book_events.paused,
    "phase_entered": lambda f: (
        _("▷ phase {phase}").format(phase=f["phase"])
        + (f" ({f['strategy']})" if f["strategy"] else "")
    ),
    "notice": lambda f: str(f["text"]),
    "stopping": lambda f: _("⏹ Stopping, progress saved. Press Ctrl-C again to force quit."),
}


def in_words(event: str, facts: Facts) -> str | None:
    """The line for an event; None for those that say nothing to a person."""
    if event in book_events.STEPS and book_events.is_step(facts):
        return book_events.STEPS[event](facts)
    say = WORDS.get(event)
    return say(book_events.named(facts)) if say else None


def _one_line(command: str) -> str:
    first, *more = command.strip().splitlines()
    return f"{first} …" if more else first


def local_time(text: str, now: datetime | None = None) -> str:
    """An instant as the wall clock here shows it; the date only when it is not today."""
    at = datetime.fromisoformat(text).astimezone()
    is_today = at.date() == (now or datetime.now(at.tzinfo)).astimezone(at.tzinfo).date()
    return at.strftime("%H:%M:%S" if is_today else "%m-%d %H:%M")


def headline(exit_code: int, *, done: str, failed: str) -> str:
    """The first words of a summary, for a plan of any kind."""
    match exit_code:
        case 0:
            return done
        case 3:
            return _("❓ Waits for you.")
        case 4:
            return _("⏳ Parked.")
        case 130:
            return _("⏹ Stopped. Progress saved.")
        case _:
            return failed


def state_name(state: str) -> str:
    return {
        "pending": _("pending"),
        "in_progress": _("in progress"),
        "completed": _("completed"),
        "failed": _("failed"),
        "skipped": _("skipped"),
        "running": _("running"),
        "parked": _("parked"),
        "waiting": _("waits for you"),
        "interrupted": _("interrupted"),
        "finished": _("finished"),
    }.get(state, state)


def limit_name(kind: str) -> str:
    return {
        "session_limit": _("5-hour limit"),
        "weekly_limit": _("weekly limit"),
        "daily_quota": _("daily quota"),
        "rate_limit": _("rate limit"),
        "overloaded": _("overloaded"),
        "context_limit": _("context limit"),
        "billing": _("billing"),
        "auth": _("login"),
        "network": _("network"),
        "conversation": _("conversation in use"),
        "manual": _("by hand"),
        "quiet_hours": _("quiet hours"),
        "drain": _("near its limit"),
        "until": _("past the time in [leash] until"),
    }.get(kind, _("limit"))


def usage_in_words(used: Facts) -> str:
    cost = used["cost_usd"]
    price = f"${cost:.2f}" if cost else _("no cost reported")
    text = _("{read} tokens read, {written} written, {cost}")
    return text.format(read=used["input_tokens"], written=used["output_tokens"], cost=price)
