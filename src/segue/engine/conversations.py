"""One process on one conversation, in every kind of work: held before it is continued, and as soon
as a program names it; free again when the run has ended."""

from __future__ import annotations

from dataclasses import dataclass

from segue.engine.attempt import Attempt
from segue.engine.run_files import RunFiles
from segue.store.conversations import ConversationHolder, Conversations

BUSY_S = 5.0  # after this it is tried again whether another run has left a conversation


@dataclass(frozen=True, slots=True)
class ConversationHolds:
    """What the runs of one work hold. `work`: its path, for those that wait for them."""

    held: Conversations
    files: RunFiles
    work: str

    def take(self, attempt: Attempt, conversation: str | None) -> bool:
        """Hold a conversation for a run. False: another run is at work in it, and `attempt.busy`
        says which."""
        if not attempt.profile.is_structured or conversation is None:
            return True  # only those programs keep conversations
        run = attempt.run
        wanting = ConversationHolder(run.id, str(self.files.claim(run.id)), self.work, run.task)
        attempt.busy = self.held.take(attempt.profile.kind, conversation, wanting)
        return attempt.busy is None

    def release(self, attempt: Attempt) -> None:
        """Nothing works in it any more."""
        run = attempt.run
        if attempt.profile.is_structured and run.resume_id is not None and attempt.busy is None:
            self.held.release(attempt.profile.kind, run.resume_id, run.id)
