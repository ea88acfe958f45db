"""The kinds of work, each behind the same verbs (`base.Subject`)."""

from .base import Subject
from .book import Books
from .feature import FeatureWork
from .panes import Panes
from .server import ServerTasks
from .tasklist import TaskList

KINDS: dict[str, type[Subject]] = {
    kind.kind: kind for kind in (TaskList, Books, FeatureWork, ServerTasks, Panes)
}

__all__ = ["KINDS", "Subject"]
