"""The heads of log lines: where the message begins, and how grave it is."""

from __future__ import annotations

import pytest

from segue.dialects.limits.envelope.heads import ERROR, NONE, QUIET, WARNING, head_of

MESSAGE = "quota gone"

HEADS = {
    "klog": ("E0311 13:20:00.882913       1 client.go:141] ", ERROR),
    "klog, information": ("I0311 13:19:52.114001       1 loop.go:88] ", QUIET),
    "CRI": ("2026-03-11T13:20:00.552143127Z stderr F ", NONE),
    "zap": ("2026-03-11T14:20:00.113+0100\tERROR\tagent\tllm/client.go:203\t", ERROR),
    "logrus": ("ERRO[0421] ", ERROR),
    "syslog": ("Mar 11 14:20:00 buildbox agent[4121]: ", NONE),
    "syslog with a priority": ('<131>1 2026-03-11T13:20:00Z box agentd 4121 ID [m s="9"] ', ERROR),
    "journald": ("2026-03-11T14:20:00+0100 buildbox nightly[991]: ", NONE),
    "loguru": ("2026-03-11 14:20:00.114 | CRITICAL | __main__:<module>:14 - ", ERROR),
    "tracing": ("2026-03-11T13:20:00.114552Z  WARN run{task=7}:step{n=3}: agent::llm: ", WARNING),
    "docker compose": ("agent-1   | ", NONE),
    "GitHub Actions": ("::error file=agent.py,line=12::", ERROR),
    "GitHub Actions, logged": ("2026-03-11T13:20:00.1145521Z ##[error]", ERROR),
    "Azure pipelines": ("##vso[task.logissue type=warning]", WARNING),
    "log4j": ("2026-03-11 14:20:00,114 ERROR [pool-3] o.e.a.LlmClient - ", ERROR),
    "Python": ("ERROR:agent.core:", ERROR),
    "Python, with a time": ("2026-03-11 14:20:00,114 - agent.core - WARNING - ", WARNING),
    "Ruby": ("E, [2026-03-11T14:20:00.114552 #4121] ERROR -- agent: ", ERROR),
    "serilog": ("[14:20:00 ERR] ", ERROR),
    "airflow": ("[2026-03-11, 14:20:00 CET] {agent.py:88} ERROR - ", ERROR),
    "Korean": ("[2026-03-11 14:20:00] [오류] ", ERROR),
}


@pytest.mark.parametrize("name", HEADS)
def test_the_message_begins_behind_the_head(name: str) -> None:
    """Whatever fields a program prints, the message is what follows them."""
    printed, level = HEADS[name]
    head = head_of(printed + MESSAGE)
    assert (printed + MESSAGE)[head.end :] == MESSAGE
    assert (head.level, head.is_log) == (level, True)


@pytest.mark.parametrize(
    "line",
    [
        "Usage limit reached, resets 18:10",
        "Error: quota gone",
        "code | meaning | what to do",
        "resets at 18:10",
        "the error is gone",
        "",
    ],
)
def test_a_sentence_has_no_head(line: str) -> None:
    """A time or the word "error" within a sentence makes no log."""
    assert head_of(line) == (0, NONE, False)


def test_the_class_of_an_exception_is_part_of_the_message() -> None:
    """It tells what happened; a module's name does not."""
    line = "14:20:00.114 [error] agent: Faraday::TooManyRequestsError: status 429"
    assert line[head_of(line).end :].startswith("Faraday::TooManyRequestsError")
