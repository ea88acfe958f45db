"""Cells of the table kind × behaviour that make no sense, and why: test → kind → reason."""

from __future__ import annotations

Rows = dict[str, dict[str, str]]

NO_START = "a person starts the programs in panes; Segue starts none there"
NOT_OURS = "the program in a pane is a person's: Segue neither ends nor starts it"
NO_COST = "a program in a pane reports no cost to Segue"
ENDS = "a book whose writer asks has nothing else to do: `write-all` ends with exit 3"
NO_END = "watching has no end"

NOT_APPLICABLE: Rows = {
    "test_nothing_else_of_the_account_starts": {"panes": NO_START},
    "test_an_agent_without_compaction_begins_afresh_with_a_summary": {
        "panes": "Segue does not throw away a person's conversation in a pane",
    },
    "test_the_fallback_takes_over": {"panes": NO_START},
    "test_the_first_agent_returns_after_the_reset": {"panes": NO_START},
    "test_a_silent_agent_is_ended_and_the_task_continues": {"panes": NOT_OURS},
    "test_a_long_silence_is_reported_with_what_the_agent_does": {"panes": NOT_OURS},
    "test_a_cut_off_run_learns_of_it_in_its_conversation": {"panes": NOT_OURS},
    "test_a_cut_off_run_without_a_conversation_learns_of_it": {"panes": NOT_OURS},
    "test_a_gate_is_answered_once_from_another_terminal": {
        "panes": "a program's own menu is answered in its pane: Segue chooses for no one",
    },
    "test_a_gate_is_approved_in_its_own_words": {
        "panes": "a program's own menu is answered in its pane: Segue chooses for no one",
    },
    "test_a_question_is_answered_by_the_api": {
        "panes": "a program's own menu is answered in its pane: Segue chooses for no one",
    },
    "test_the_audit_names_who_answered": {
        "panes": "a program's own menu is answered in its pane: Segue chooses for no one",
    },
    "test_an_answer_after_the_deadline_learns_what_came_first": {
        "book": ENDS,
        "panes": "a program's own menu has no deadline",
    },
    "test_a_gate_that_nobody_needs_is_withdrawn": {
        "book": "a chapter's step is neither skipped nor replaced while its writer waits",
    },
    "test_an_optional_question_takes_its_default": {
        "panes": "a program's own menu has no deadline, and Segue chooses for no one",
    },
    "test_a_gate_that_waits_for_long_is_reminded_of": {"book": ENDS},
    "test_reminders_that_fell_due_meanwhile_go_out_at_the_next_start": {"book": ENDS},
    "test_a_question_without_a_default_presses_at_its_deadline": {
        "book": ENDS,
        "panes": "a program's own menu has no deadline",
    },
    "test_two_runs_never_share_a_conversation": {"panes": NO_START},
    "test_a_memory_that_is_deleted_is_restored": {"book": ENDS},
    "test_the_end_goes_out_once": {"panes": NO_END},
    "test_park_ends_a_run_and_wake_continues_it": {"panes": NOT_OURS},
    "test_retry_gives_a_failed_task_another_chance": {"panes": NOT_OURS},
    "test_skip_passes_a_failed_task_over": {
        "panes": NOT_OURS,
        "server": "a task of the server is cancelled, not skipped: no other task is passed over",
    },
    "test_running_comes_before_waiting": {"book": "a book has one task at a time"},
    "test_waiting_comes_before_parked": {"book": "a book has one task at a time"},
    "test_interrupted": {"panes": "the programs in panes need no Segue to work"},
    "test_failed": {
        "book": "a writer that keeps ending badly trips the circuit breaker: a gate, `waiting`",
        "feature": "a checkpoint that failed three times escalates: a gate, `waiting`",
        "panes": "a pane in `error` is put to a person: `waiting`",
    },
    "test_finished": {"panes": NO_END},
    "test_owners_that_begin_at_once_share_the_memory": dict.fromkeys(
        ("tasklist", "feature", "server", "panes"), "one command drives all tasks of the work"
    ),
    "test_a_budget_that_is_used_up_asks_while_the_run_works_on": {"panes": NO_COST},
    "test_the_question_about_the_budget_survives_kill_9": {"panes": NO_COST},
}
