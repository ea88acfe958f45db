"""What is asked of tmux about panes, and what its answers mean."""

from __future__ import annotations

from collections.abc import Sequence

from segue.dialects.screen import Screen, plain
from segue.drivers.panes import Pane, PaneError, PaneGoneError
from segue.drivers.tmux.control_mode import Reply, quoted
from segue.i18n import _

# Numbers first: a title or a command may hold anything but a tab.
_PANES = (
    "#{pane_id} #{pane_pid} #{pane_width} #{pane_height} #{pane_dead} #{session_id}"
    "\t#{pane_tty}\t#{pane_title}\t#{pane_current_command}"
)
_FACTS = (
    "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{history_size} #{alternate_on}"
    " #{pane_in_mode} #{pane_dead}\t#{pane_title}"
)
PANES = f"list-panes -a -F {quoted(_PANES)}"


def good(replies: Sequence[Reply]) -> Sequence[Reply]:
    """The replies, if no command failed."""
    for reply in replies:
        if reply.is_error:
            said = " ".join(reply.lines)
            raise PaneGoneError(said) if said.startswith("can't find") else PaneError(said)
    return replies


def panes_of(replies: Sequence[Reply], socket: str) -> dict[str, tuple[Pane, str]]:
    """Each living pane by its id, with a session that shows it; the answer to `PANES`."""
    found = {}
    for reply in good(replies):
        for line in reply.lines:
            if pane := _pane(line, socket):
                found[pane[0].id] = pane
    return found


def _pane(line: str, socket: str) -> tuple[Pane, str] | None:
    numbers, _tab, words = line.partition("\t")
    match numbers.split(" "), words.split("\t", 2):
        case [pane_id, pid, width, height, "0", session], [tty, title, command]:
            pane = Pane(
                id=pane_id,
                host="tmux",
                socket=socket,
                rows=int(height),
                columns=int(width),
                title=title.strip(),
                pid=int(pid),
                command=command,
                tty=tty,
            )
            return pane, session
        case _:
            return None  # a dead one, or a line that a strange name has torn


def screen_command(pane_id: str, above: int) -> str:
    """Three questions in one: the facts, the rows, and the rows with wrapped ones joined. tmux
    answers them in one go, so they are of the same moment."""
    capture = f"capture-pane -p -e -t {pane_id} -S {-above}"
    return f"display-message -p -t {pane_id} {quoted(_FACTS)} ; {capture} ; {capture} -J"


def screen_of(replies: Sequence[Reply], pane_id: str, above: int) -> Screen:
    """The answer to `screen_command`. A pane may show lines that look like tmux's own: what does
    not fit together is refused."""
    answers = [reply.lines for reply in good(replies)]
    try:
        (facts,), rows, joined = answers
        numbers, _tab, title = facts.partition("\t")
        width, height, x, y, history, alternate, in_mode, dead = map(int, numbers.split(" "))
    except ValueError as error:
        raise _nonsense(pane_id) from error
    if dead:
        raise PaneGoneError(_("the program in {pane} has ended").format(pane=pane_id))
    scrolled = len(rows) - height
    if scrolled != min(above, history):
        raise _nonsense(pane_id)
    return Screen(
        lines=plain(rows),
        joined=plain(joined),
        styled=rows,
        cursor=(scrolled + y, min(x, width - 1)),
        rows=height,
        columns=width,
        title=title.strip(),
        history=scrolled,
        is_alternate=bool(alternate),
        is_scrolled=bool(in_mode),
    )


def _nonsense(pane_id: str) -> PaneError:
    return PaneError(_("tmux sent an invalid reply about {pane}").format(pane=pane_id))


def typing_command(pane_id: str, text: str, buffer: str, *, is_raw: bool) -> str:
    """Type a text by pasting it, in one step with the look whether the pane takes any: older
    servers do not survive a paste into a pane whose program has ended."""
    look = quoted("#{||:#{pane_dead},#{pane_input_off}}")
    refuse = (
        f"delete-buffer -b {buffer} ; "
        f"display-message -p -t {pane_id} {quoted('refused #{pane_dead}')}"
    )
    flags = "-drS" if is_raw else "-dr"
    paste = f"paste-buffer {flags} -b {buffer} -t {pane_id} ; display-message -p sent"
    return (
        f"set-buffer -b {buffer} -- {quoted(text)} ; "
        f"if-shell -F -t {pane_id} {look} {quoted(refuse)} {quoted(paste)}"
    )


def is_typed(replies: Sequence[Reply], pane_id: str) -> bool:
    """Whether tmux said so; PaneError: it said that it did not."""
    said = {line for reply in good(replies) for line in reply.lines}
    if "refused 1" in said:
        raise PaneGoneError(_("the program in {pane} has ended").format(pane=pane_id))
    if "refused 0" in said:
        raise PaneError(_("{pane} does not accept input now").format(pane=pane_id))
    return "sent" in said
