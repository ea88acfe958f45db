"""Panes of a real tmux: on a socket of its own, so that nobody's server is touched."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.tmux import TAKE, Seen, Tmux, a_server, play
from kit.waiting import until, until_awaited
from segue.drivers.pane_agents import agent_of
from segue.drivers.panes import (
    HostBack,
    HostGone,
    HostGoneError,
    PaneAppeared,
    PaneChanged,
    PaneError,
    PaneGone,
    PaneGoneError,
)
from segue.drivers.processes import is_alive, start_time
from segue.drivers.tmux.control_mode import Reply
from segue.drivers.tmux.host import TmuxPanes

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


@pytest.fixture
def tmux() -> Iterator[Tmux]:
    with a_server() as server:
        yield server


def test_every_pane_of_every_room_is_there(tmux: Tmux) -> None:
    """Panes of all sessions and windows, each once, with what is known of them."""
    first = tmux.room("one", "sleep", "1000", size="100x30")
    second = tmux("split-window", "-d", "-t", "one", "-P", "-F", "#{pane_id}", "cat")
    third = tmux("new-window", "-d", "-t", "one", "-P", "-F", "#{pane_id}", "cat")
    fourth = tmux.room("two", "cat")
    tmux("link-window", "-d", "-s", "two", "-t", "one:7")
    tmux("select-pane", "-t", first, "-T", "a title: 제목")

    async def scene(seen: Seen) -> None:
        panes = {pane.id: pane for pane in await seen.panes.list()}
        assert sorted(panes) == sorted([first, second, third, fourth])
        pane = panes[first]
        assert (pane.host, pane.socket) == ("tmux", str(tmux.socket.resolve()))
        assert (pane.title, pane.command, pane.columns) == ("a title: 제목", "sleep", 100)
        assert str(pane.pid) == tmux("display-message", "-p", "-t", first, "#{pane_pid}")
        assert pane.tty == tmux("display-message", "-p", "-t", first, "#{pane_tty}")
        await seen.until(lambda: len(seen.events) == 4)
        assert sorted(seen.appeared()) == sorted(panes)

    play(tmux, scene)


def test_output_anywhere_is_told_at_once(tmux: Tmux) -> None:
    """In any session and in windows that nobody looks at; panes that print nothing are silent."""
    quiet = tmux.room("quiet", "cat")
    front = tmux.room("one", "cat")
    behind = tmux("new-window", "-d", "-t", "one", "-P", "-F", "#{pane_id}", "cat")
    other = tmux.room("two", "cat")

    async def scene(seen: Seen) -> None:
        for pane in (front, behind, other):
            tmux("send-keys", "-t", pane, "-l", f"hello {pane}")
            await seen.until_shown(pane, f"hello {pane}")
        await seen.quiet(other)
        assert seen.changes(quiet) == 0

    play(tmux, scene)


def test_a_busy_pane_is_told_rarely_and_its_end_never_missed(tmux: Tmux) -> None:
    """While it prints without a pause there are about two events a second; the last output is
    followed by one."""
    go = tmux.folder / "go"
    loop = f"while [ ! -e {go} ]; do echo at work; sleep 0.01; done; echo the very end; exec cat"
    pane = tmux.room("one", "sh", "-c", loop)

    async def scene(seen: Seen) -> None:
        await seen.until(lambda: seen.changes(pane) > 5)
        before, since = seen.changes(pane), time.monotonic()
        await asyncio.sleep(4)
        told, took_s = seen.changes(pane) - before, time.monotonic() - since
        assert 1 <= told <= 3 * took_s
        go.touch()
        await seen.until_shown(pane, "the very end")

    play(tmux, scene)


FLOODS = 8


def floods(tmux: Tmux) -> tuple[list[str], Path, list[Path]]:
    """Panes of one session, of which each will print megabytes when the file `go` is there, and
    then make a file of its own."""
    go = tmux.folder / "go"
    panes, done = [], []
    for n in range(FLOODS):
        done.append(tmux.folder / f"done{n}")
        flood = f"until [ -e {go} ]; do sleep 0.01; done; seq 1 300000; touch {done[n]}; exec cat"
        argv = ("sh", "-c", flood)
        new = ("new-window", "-d", "-P", "-F", "#{pane_id}", *argv)
        panes.append(tmux(*new) if n else tmux.room("one", *argv))
    return panes, go, done


def test_a_watcher_that_stands_still_holds_up_nobody(tmux: Tmux) -> None:
    """Programs print megabytes and go on although nobody takes a byte; afterwards the watcher
    knows. Nobody else is attached: tmux would wait for its only client."""
    panes, go, done = floods(tmux)

    async def scene(seen: Seen) -> None:
        go.touch()
        until(lambda: all(file.exists() for file in done))  # the loop stands still meanwhile
        for pane in panes:
            await seen.until_shown(pane, "300000")

    play(tmux, scene)


WATCH = (
    "import asyncio, os, sys\nfrom pathlib import Path\n"
    "from segue.drivers.tmux.host import TmuxPanes\n"
    "async def main():\n"
    "    async with TmuxPanes(Path(sys.argv[1]), environ=os.environ): await asyncio.sleep(99)\n"
    "asyncio.run(main())"
)


def watcher(tmux: Tmux) -> subprocess.Popen[bytes]:
    """Another process that watches, when it does."""
    process = subprocess.Popen([sys.executable, "-c", WATCH, str(tmux.socket)])
    until(lambda: len(tmux("list-clients").splitlines()) == 2)
    return process


def test_a_watcher_that_was_stopped_stops_nobody(tmux: Tmux) -> None:
    """Ctrl-Z, or a debugger: the programs in the panes do not notice."""
    _panes, go, done = floods(tmux)
    with watcher(tmux) as process:
        process.send_signal(signal.SIGSTOP)
        go.touch()
        until(lambda: all(file.exists() for file in done))
        process.kill()


def test_a_pane_is_not_forgotten_while_others_flood(tmux: Tmux) -> None:
    """What it printed was never sent, because we took nothing for too long: it is told of."""
    go, done = tmux.folder / "go", tmux.folder / "done"
    flood = f"until [ -e {go} ]; do sleep 0.01; done; seq 1 1000000; touch {done}; exec cat"
    noisy = tmux.room("one", "sh", "-c", flood)
    pane = tmux("split-window", "-d", "-t", "one", "-P", "-F", "#{pane_id}", "cat")

    async def scene(seen: Seen) -> None:
        await seen.until(lambda: pane in seen.appeared())
        await seen.quiet(pane)
        go.touch()
        until(done.exists)  # the loop stands still meanwhile, longer than tmux has patience
        tmux("send-keys", "-t", pane, "-l", "drowned")
        time.sleep(2.5)
        await seen.until_shown(pane, "drowned")
        await seen.until_shown(noisy, "1000000")

    play(tmux, scene)


def test_panes_and_rooms_come_and_go(tmux: Tmux) -> None:
    """A pane that is split off, a new window, a new session: watched from then on."""
    first = tmux.room("one", "cat")

    async def scene(seen: Seen) -> None:
        split = tmux("split-window", "-d", "-t", "one", "-P", "-F", "#{pane_id}", "cat")
        window = tmux("new-window", "-d", "-t", "one", "-P", "-F", "#{pane_id}", "cat")
        room = tmux.room("two", "cat")
        await seen.until(lambda: {split, window, room} <= set(seen.appeared()))
        tmux("send-keys", "-t", room, "-l", "in the new one")
        await seen.until_shown(room, "in the new one")
        tmux("kill-pane", "-t", split)
        tmux("send-keys", "-t", window, "C-d")  # its program ends, and it with it
        tmux("kill-session", "-t", "two")
        gone = {PaneGone(split), PaneGone(window), PaneGone(room)}
        await seen.until(lambda: gone <= set(seen.events))
        tmux("send-keys", "-t", first, "-l", "still here")
        await seen.until_shown(first, "still here")

    events = play(tmux, scene)
    assert not any(isinstance(event, HostGone) for event in events)


def test_the_only_room_may_be_replaced(tmux: Tmux) -> None:
    """The session that we are attached to ends while another one begins: the server is there."""
    tmux.room("old", "cat")

    async def scene(seen: Seen) -> None:
        for n in range(5):
            new = tmux.room(f"new{n}", "cat")
            tmux("kill-session", "-a", "-t", f"new{n}")
            await seen.until(lambda new=new: new in seen.appeared())
        tmux("send-keys", "-t", new, "-l", "hello")
        await seen.until_shown(new, "hello")

    events = play(tmux, scene)
    assert not any(isinstance(event, HostGone) for event in events)


def test_a_server_that_goes_and_comes_back(tmux: Tmux) -> None:
    """Its going is told once with the reason, asking it is an error of its own, and a new one is
    found as soon as it is there, also after a long wait."""
    pane = tmux.room("one", "cat")

    async def scene(seen: Seen) -> None:
        tmux("kill-server")
        await seen.until(lambda: isinstance(seen.events[-1], HostGone))
        for asked in (seen.panes.list(), seen.panes.screen(pane), seen.panes.send_text(pane, "x")):
            with pytest.raises(HostGoneError):
                await asked
        await asyncio.sleep(2)  # several tries, which are further and further apart
        again = tmux.room("two", "cat")
        await seen.until(lambda: isinstance(seen.events[-1], PaneAppeared))
        assert again == pane, "ids begin anew"
        tmux("send-keys", "-t", again, "-l", "hello")
        await seen.until_shown(again, "hello")

    events = play(tmux, scene)
    kinds = [type(event) for event in events if not isinstance(event, PaneChanged)]
    assert kinds == [PaneAppeared, HostGone, HostBack, PaneAppeared]


def test_a_server_that_is_not_there_yet(tmux: Tmux) -> None:
    """Watching begins before tmux does: told, and taken up when it comes."""

    async def scene(seen: Seen) -> None:
        await seen.until(lambda: seen.events)
        assert isinstance(seen.events[0], HostGone)
        assert seen.events[0].reason
        pane = tmux.room("one", "cat")
        await seen.until(lambda: pane in seen.appeared())

    play(tmux, scene)


def test_a_server_that_was_killed(tmux: Tmux) -> None:
    """Its socket stays behind and leads nowhere; the next server replaces it, and is found."""
    tmux.room("one", "cat")

    async def scene(seen: Seen) -> None:
        os.kill(int(tmux("display-message", "-p", "#{pid}")), signal.SIGKILL)
        await seen.until(lambda: isinstance(seen.events[-1], HostGone))
        assert tmux.socket.exists()
        pane = tmux.room("two", "cat")
        await seen.until(lambda: seen.events[-2:-1] == [HostBack()])
        assert seen.appeared()[-1] == pane

    play(tmux, scene)


def test_another_server_in_no_time_has_other_panes(tmux: Tmux) -> None:
    """One that is replaced before we could look has the same ids: its panes are new all the same."""
    first = tmux.room("one", "cat")

    async def scene(seen: Seen) -> None:
        await seen.until(lambda: seen.appeared() == [first])
        server = int(tmux("display-message", "-p", "#{pid}"))
        started = start_time(server)
        assert started is not None
        os.kill(server, signal.SIGKILL)
        until(lambda: not is_alive(server, started))  # a zombie may stay: nobody here is its parent
        again = tmux.room("one", "cat")  # the loop has not had a turn
        assert again == first
        await seen.until(lambda: seen.appeared() == [first, again])

    events = play(tmux, scene)
    assert [type(event) for event in events[1:3]] == [HostGone, HostBack]


def test_a_screen_is_what_a_person_sees(tmux: Tmux) -> None:
    """Rows, cursor, title, what is wrapped, what is coloured, wide characters, drawn lines."""
    text = (
        "\x1b]0;the title\x07\x1b(0lqk\x1b(B box\r\n\x1b(0x\x1b(B\r\n한글 \x1b[1;31mred\x1b[0m end  \r\n"
        "0123456789012345678901234567890123456789\r\n"
        "%end 1 2 1\r\n%exit\r\n%output %0 x"
    )
    pane = tmux.printed("one", text, size="30x10")

    async def scene(seen: Seen) -> None:
        await seen.until_shown(pane, "%output")
        screen = await seen.panes.screen(pane)
        assert screen.lines[:3] == ("┌─┐ box", "│", "한글 red end")
        assert screen.lines[3:8] == (
            "012345678901234567890123456789",
            "0123456789",
            "%end 1 2 1",
            "%exit",
            "%output %0 x",
        )
        assert screen.joined[3] == "0123456789012345678901234567890123456789"
        assert "\x1b[31mred" in screen.styled[2]
        assert len(screen.lines) == len(screen.styled) == screen.rows == 10
        assert (screen.columns, screen.cursor, screen.title) == (30, (7, 12), "the title")
        assert not screen.is_alternate
        assert not screen.is_scrolled

    play(tmux, scene)


def test_a_screen_of_a_full_screen_program(tmux: Tmux) -> None:
    """The alternate screen is told as such, and has no history."""
    pane = tmux.printed("one", "below\r\n" * 50 + "\x1b[?1049h\x1b[2J\x1b[5;5Hfull\x1b[24;80H!")

    async def scene(seen: Seen) -> None:
        await seen.until_shown(pane, "full")
        screen = await seen.panes.screen(pane, history_lines=30)
        assert screen.is_alternate
        assert screen.lines[-20] == "    full"
        assert screen.cursor == (len(screen.lines) - 1, 79)

    play(tmux, scene)


def test_history_comes_before_the_screen(tmux: Tmux) -> None:
    """As many rows as were asked for and are there; the cursor's row counts them."""
    pane = tmux.printed("one", "\r\n".join(f"row {n}" for n in range(40)), size="80x10")

    async def scene(seen: Seen) -> None:
        await seen.until_shown(pane, "row 39")
        for asked, has in ((0, 0), (5, 5), (30, 30), (1000, 30)):
            screen = await seen.panes.screen(pane, history_lines=asked)
            assert (screen.history, len(screen.lines)) == (has, has + 10)
            assert screen.lines == tuple(f"row {n}" for n in range(30 - has, 40))
            assert screen.cursor == (has + 9, 6)

    play(tmux, scene)


def test_a_pane_that_is_gone_is_an_error_of_its_own(tmux: Tmux) -> None:
    """Reading it or typing into it; also where its program has ended and the pane stays."""
    tmux.room("one", "cat")
    tmux("set-option", "-g", "remain-on-exit", "on")
    dead = tmux("split-window", "-d", "-P", "-F", "#{pane_id}", "true")
    until(lambda: tmux("display-message", "-p", "-t", dead, "#{pane_dead}") == "1")

    async def scene(seen: Seen) -> None:
        assert dead not in {pane.id for pane in await seen.panes.list()}
        for pane in (dead, "%99", "one", "-t"):
            for act in (
                seen.panes.screen(pane),
                seen.panes.send_text(pane, "x"),
                seen.panes.send_key(pane, "Enter"),
            ):
                with pytest.raises(PaneGoneError):
                    await act
        assert tmux("list-buffers") == ""

    play(tmux, scene)


LITERAL = [
    "계속",
    "Enter",
    "C-c ; kill-server",
    "$HOME ${HOME} `id` \\n \\x41 \\",
    'it\'s "quoted" #{pane_id} #(id) %0 ~ {} [] !! * ? | & < > ^',
    "-dash -t %0",
    "two\nlines\tand a tab",
    "e\u0301 日本 \U0001f600 \u200d",
    "  blanks  ",
    "x" * 16_000,
]


def test_text_arrives_as_it_is(tmux: Tmux) -> None:
    """Nothing in it is a key, a variable or a command; no Enter comes with it, no paste marks."""
    pane, file = tmux.taker("one")
    print_marks = "\x1b[?2004h"  # the program asks for paste marks, and gets none

    async def scene(seen: Seen) -> None:
        Path(tmux("display-message", "-p", "-t", pane, "#{pane_tty}")).write_text(print_marks)
        tmux("set-buffer", "-b", "mine", "the user's own")
        expected = b""
        for text in LITERAL:
            await seen.panes.send_text(pane, text)
            expected += text.encode()
            await seen.until(lambda now=expected: file.read_bytes() == now)
        await seen.panes.send_text(pane, "")
        await seen.panes.send_key(pane, "Enter")
        await seen.panes.send_key(pane, "Down")
        await seen.until(lambda: file.read_bytes() == expected + b"\r\x1b[B")
        assert tmux("list-buffers", "-F", "#{buffer_name}") == "mine"

    play(tmux, scene)


def test_a_person_who_scrolls_back_is_left_there(tmux: Tmux) -> None:
    """What is sent reaches the program, not the copy mode, and the screen tells of it."""
    pane, file = tmux.taker("one")

    async def scene(seen: Seen) -> None:
        tmux("copy-mode", "-t", pane)
        assert (await seen.panes.screen(pane)).is_scrolled
        await seen.panes.send_text(pane, "q")
        await seen.panes.send_key(pane, "Enter")
        await seen.until(lambda: file.read_bytes() == b"q\r")
        assert tmux("display-message", "-p", "-t", pane, "#{pane_in_mode}") == "1"

    play(tmux, scene)


def test_only_the_pane_that_is_meant_gets_it(tmux: Tmux) -> None:
    """Panes that a person has synchronized are typed into one by one by us."""
    pane, file = tmux.taker("one")
    other = tmux.folder / "other.bin"
    neighbour = tmux(
        "split-window", "-d", "-P", "-F", "#{pane_id}",
        shlex.join([sys.executable, "-c", TAKE, str(other)]),
    )  # fmt: skip
    until(lambda: "ready" in tmux("capture-pane", "-p", "-t", neighbour))
    tmux("set-option", "-w", "synchronize-panes", "on")

    async def scene(seen: Seen) -> None:
        await seen.panes.send_text(pane, "once")
        await seen.panes.send_key(pane, "Enter")
        await seen.until(lambda: file.read_bytes() == b"once\r")
        await seen.panes.send_text(neighbour, "end")  # what came before it would be there by now
        await seen.until(lambda: other.read_bytes().endswith(b"end"))
        assert other.read_bytes() == b"end"

    play(tmux, scene)


def test_a_pane_without_input_refuses(tmux: Tmux) -> None:
    """Input that a person has switched off is not gone: the pane is, and says no."""
    pane, file = tmux.taker("one")
    tmux("select-pane", "-d", "-t", pane)

    async def scene(seen: Seen) -> None:
        with pytest.raises(PaneError) as error:
            await seen.panes.send_text(pane, "x")
        assert type(error.value) is PaneError
        assert tmux("list-buffers") == ""
        tmux("select-pane", "-e", "-t", pane)
        await seen.panes.send_text(pane, "y")
        await seen.until(lambda: file.read_bytes() == b"y")

    play(tmux, scene)


def test_windows_keep_the_size_of_their_users(tmux: Tmux) -> None:
    """Two people with terminals of different sizes: the one who typed last decides, not we."""
    tmux.room("one", "cat")
    small = tmux.attach(30, 100, "one")
    large = tmux.attach(40, 120, "one")

    def size() -> str:
        return tmux("display-message", "-p", "-t", "one:", "#{window_width}x#{window_height}")

    async def scene(seen: Seen) -> None:
        for fd, shown in ((small, "100x29"), (large, "120x39"), (small, "100x29")):
            os.write(fd, b"x")
            await seen.until(lambda shown=shown: size() == shown)
            await seen.panes.list()
            assert size() == shown

    os.write(small, b"x")
    until(lambda: size() == "100x29")
    play(tmux, scene)
    assert size() == "100x29"


def test_a_room_that_ends_with_its_user_ends(tmux: Tmux) -> None:
    """`destroy-unattached`: when the person detaches, our being there does not keep it alive."""
    stays = tmux.room("stays", "cat")
    pane = tmux.room("goes", "cat")
    fd = tmux.attach(24, 80, "goes")
    tmux("set-option", "-t", "goes", "destroy-unattached", "on")
    tmux("set-option", "-t", "goes", "assume-paste-time", "0")  # else quick keys are no command

    async def scene(seen: Seen) -> None:
        tmux("send-keys", "-t", pane, "-l", "hello")
        await seen.until_shown(pane, "hello")
        os.write(fd, b"\x02")  # as a person does it
        prefix = ("list-clients", "-F", "#{client_prefix}")
        await seen.until(lambda: "1" in tmux(*prefix))
        os.write(fd, b"d")
        await seen.until(lambda: PaneGone(pane) in seen.events)
        assert tmux("list-sessions", "-F", "#{session_name}") == "stays"
        tmux("send-keys", "-t", stays, "-l", "hello")
        await seen.until_shown(stays, "hello")

    play(tmux, scene)


def test_the_room_that_tmux_would_choose_stays_the_same(tmux: Tmux) -> None:
    """`tmux attach` means the session that was used last, as it did before we came."""
    for name in ("one", "two", "three", "four"):
        tmux.room(name, "cat")
        time.sleep(1.1)  # tmux tells the use by the second
    chosen = "#{session_name}"
    tmux("send-keys", "-t", "two:", "-l", "x")
    before = tmux("display-message", "-p", chosen)

    async def scene(seen: Seen) -> None:
        assert tmux("display-message", "-p", chosen) == before

    play(tmux, scene)
    assert tmux("display-message", "-p", chosen) == before


def test_a_user_may_throw_us_out(tmux: Tmux) -> None:
    """Detached with all other clients, the watcher comes back and misses nothing."""
    pane = tmux.room("one", "cat")

    async def scene(seen: Seen) -> None:
        await seen.until(lambda: seen.told(pane))
        await seen.quiet(pane)
        ours = set(tmux("list-clients", "-F", "#{client_name}").split())
        for client in ours:
            tmux("detach-client", "-t", client)
        tmux("send-keys", "-t", pane, "-l", "meanwhile")
        until(lambda: "meanwhile" in tmux("capture-pane", "-p", "-t", pane))
        await seen.until_shown(pane, "meanwhile")
        clients = ("list-clients", "-F", "#{client_name}")
        await seen.until(lambda: len(set(tmux(*clients).split()) - ours) == 2)

    events = play(tmux, scene)
    assert not any(isinstance(event, HostGone) for event in events)


def test_clients_that_end_during_a_look_are_no_end_of_the_server(tmux: Tmux) -> None:
    """All of them went just as the panes were asked for: the next look tells, nothing is lost."""
    tmux.room("one", "cat")

    async def scene(seen: Seen) -> None:
        ask, fails = seen.panes._clients.ask, 2

        async def failing(command: str, *, is_read: bool = True) -> list[Reply]:
            nonlocal fails
            if "list-panes" in command and fails:
                fails -= 1
                raise HostGoneError("not now")
            return await ask(command, is_read=is_read)

        seen.panes._clients.ask = failing  # type: ignore[method-assign]
        pane = tmux("split-window", "-d", "-P", "-F", "#{pane_id}", "cat")
        await seen.until(lambda: pane in seen.appeared())
        assert fails == 0

    events = play(tmux, scene)
    assert not any(isinstance(event, HostGone) for event in events)


def test_hooks_of_the_user_are_not_answers(tmux: Tmux) -> None:
    """Commands that tmux runs after ours print something, too: it is not taken for a screen."""
    pane = tmux.printed("one", "what is there")
    for command in ("capture-pane", "display-message", "list-panes", "refresh-client"):
        tmux("set-hook", "-g", f"after-{command}", "display-message -p hooked")

    async def scene(seen: Seen) -> None:
        await seen.until_shown(pane, "what is there")
        assert (await seen.panes.screen(pane)).lines[:2] == ("what is there", "")
        assert [found.id for found in await seen.panes.list()] == [pane]

    play(tmux, scene)


def test_two_watchers_see_the_same(tmux: Tmux) -> None:
    """Whoever watches the same server does not take anything from the other."""
    pane = tmux.room("one", "cat")

    async def scene(seen: Seen) -> None:
        async with TmuxPanes(tmux.socket, environ=os.environ) as second:
            other = Seen(second)
            gathering = asyncio.create_task(other.gather())
            for word in ("first", "second", "third"):
                tmux("send-keys", "-t", pane, "-l", word)
                await asyncio.gather(seen.until_shown(pane, word), other.until_shown(pane, word))
        await gathering

    play(tmux, scene)


def test_a_server_that_stands_still(tmux: Tmux, monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not answer: that is told as such, in time, and everything goes on afterwards."""
    monkeypatch.setattr("segue.drivers.tmux.client.ANSWER_S", 0.3)
    pane = tmux.room("one", "cat")
    server = int(tmux("display-message", "-p", "#{pid}"))

    async def scene(seen: Seen) -> None:
        os.kill(server, signal.SIGSTOP)
        try:
            with pytest.raises(PaneError, match="does not respond"):
                await seen.panes.screen(pane)
        finally:
            os.kill(server, signal.SIGCONT)
        tmux("send-keys", "-t", pane, "-l", "awake")
        await seen.until_shown(pane, "awake")

    events = play(tmux, scene)
    assert not any(isinstance(event, HostGone) for event in events)


def test_nothing_is_left_of_a_watcher_that_was_killed(tmux: Tmux) -> None:
    """Its clients go with it, without a word to tmux."""
    tmux.room("one", "cat")
    with watcher(tmux) as process:
        process.kill()
    until(lambda: not tmux("list-clients"))


def test_the_agent_of_a_pane(tmux: Tmux) -> None:
    """A shell with an agent in it holds that agent, until it ends or is stopped with Ctrl-Z."""
    agent = tmux.folder / "claude"
    shutil.copy(shutil.which("sleep") or "", agent)
    pane = tmux.room("one", "bash", "--norc")

    async def scene(seen: Seen) -> None:
        async def brand() -> str | None:
            return agent_of((await seen.panes.list())[0])

        async def until_it_is(wanted: str | None) -> None:
            async def is_so() -> bool:
                return await brand() == wanted

            await until_awaited(is_so, f"{wanted} in the pane")

        assert await brand() is None
        await seen.panes.send_text(pane, f"{agent} 1000")
        await seen.panes.send_key(pane, "Enter")
        await until_it_is("claude")
        tmux("send-keys", "-t", pane, "C-z")
        await until_it_is(None)
        tmux("send-keys", "-t", pane, "fg", "Enter")
        await until_it_is("claude")
        tmux("send-keys", "-t", pane, "C-c")
        await until_it_is(None)

    play(tmux, scene)
