"""What a process of Claude Code has used, as far as it has reported.

Each message tells its tokens, several times, the last time right; a result tells the whole turn
with its cost. A process that is killed never comes to its result: then the messages count.
"""

from __future__ import annotations

from segue.dialects.events import Used
from segue.dialects.structured import Object, amount_of, count_of, object_of

MESSAGES_MAX = 256  # those that may still be reported again

_READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_MODEL_READ = ("inputTokens", "cacheCreationInputTokens", "cacheReadInputTokens")


class Meter:
    """Adds up one process: the turns that ended, and the messages of the one under way."""

    def __init__(self) -> None:
        self._read = self._written = 0
        self._cost: float | None = None
        self._messages: dict[str, tuple[int, int]] = {}
        self._folded = (0, 0)
        self._told: Used | None = None

    def message(self, message: Object) -> Used | None:
        """A message's own tokens; the new sum where it changed."""
        usage, key = object_of(message.get("usage")), message.get("id")
        tokens = _sum(usage, _READ), _sum(usage, ("output_tokens",))
        if not isinstance(key, str) or tokens == (0, 0):
            return None
        self._messages[key] = tokens
        if len(self._messages) > MESSAGES_MAX:
            read, written = self._messages.pop(next(iter(self._messages)))
            self._folded = self._folded[0] + read, self._folded[1] + written
        read, written = self._turn()
        return self._tell(Used(self._read + read, self._written + written, self._cost))

    def result(self, told: Object) -> Used | None:
        """A turn that ended. An interrupted turn reports zero: what was counted so far is more."""
        heard_read, heard_written = self._turn()
        self._messages, self._folded = {}, (0, 0)
        own = told.get("model_usage_since_last_result")
        cost = None
        if isinstance(own, dict):
            read, written, cost = _models(own)
        else:
            read, written = self._whole(told)
        if cost is not None:
            self._cost = (self._cost or 0.0) + cost
        else:
            self._cost = _most(self._cost, amount_of(told.get("total_cost_usd")))
        self._read += max(read, heard_read)
        self._written += max(written, heard_written)
        return self._tell(Used(self._read, self._written, self._cost))

    def _whole(self, told: Object) -> tuple[int, int]:
        """The turn, where only sums of the process are known, or the turn without its agents."""
        models = object_of(told.get("modelUsage"))
        if models:
            read, written, _cost = _models(models)
            return max(read - self._read, 0), max(written - self._written, 0)
        usage = object_of(told.get("usage"))
        return _sum(usage, _READ), _sum(usage, ("output_tokens",))

    def _turn(self) -> tuple[int, int]:
        tokens = [self._folded, *self._messages.values()]
        return sum(read for read, _ in tokens), sum(written for _, written in tokens)

    def _tell(self, used: Used) -> Used | None:
        if used == self._told:
            return None
        self._told = used
        return used


def _most(*costs: float | None) -> float | None:
    return max((cost for cost in costs if cost is not None), default=None)


def _models(models: Object) -> tuple[int, int, float | None]:
    """What all models together used; the cost only if each tells its own."""
    told = [object_of(model) for model in models.values()]
    costs = [cost for model in told if (cost := amount_of(model.get("costUSD"))) is not None]
    return (
        sum(_sum(model, _MODEL_READ) for model in told),
        sum(_sum(model, ("outputTokens",)) for model in told),
        sum(costs, 0.0) if len(costs) == len(told) else None,
    )


def _sum(usage: Object, keys: tuple[str, ...]) -> int:
    return sum(count_of(usage.get(key)) or 0 for key in keys)
