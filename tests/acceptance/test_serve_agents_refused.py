"""An agent that holds the token is no person: REST and page refuse it by its process.

The agents here are commands that obey a stranger: they try to approve a review, with everything
that a program of the same user has at hand.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kit.serve import GOOD, House
from kit.server import TOKEN, Server
from kit.waiting import until

Json = dict[str, Any]
# $url and $review come from the test; `sent` keeps the status and the body of an answer.
AIM = f"""hold aim
url=$(cut -d' ' -f1 {{out}}/aim); review=$(cut -d' ' -f2 {{out}}/aim)
token={TOKEN}
approve="$url/api/reviews/$review/approve"
sent() {{{{ cat > "$out/.$1"; mv "$out/.$1" "$out/sent.$1"; }}}}
call() {{{{ curl -s -w '\\n%{{{{http_code}}}}' -H "Authorization: Bearer $token" "$@"; }}}}
"""
BY_PYTHON = """import sys, urllib.error, urllib.request as r
asked = r.Request(sys.argv[1], method=sys.argv[3], headers={"Authorization": "Bearer " + sys.argv[2]})
try:
    with r.urlopen(asked) as got: print(got.read().decode(), got.status, sep="\\n")
except urllib.error.HTTPError as error:
    print(error.read().decode(), error.code, sep="\\n")
"""
DETACH = """import os, sys, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
while os.getppid() == int(sys.argv[1]): time.sleep(0.01)
os.environ.clear()
os.environ["PATH"] = "/usr/local/bin:/usr/bin:/bin"
os.execvp("sh", ["sh", "-c", sys.argv[2]])
"""
# What follows the request fills all buffers: the server does not see that the caller hung up.
FIRE = """import socket, sys
request, more = sys.argv[3].replace("|", "\\r\\n").encode(), b"GET /health HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"
for at in range(20):
    link = socket.create_connection((sys.argv[1], int(sys.argv[2])))
    link.sendall(request)
    if at % 2:
        link.setblocking(False)
        try:
            while link.send(more * 1000): pass
        except BlockingIOError: pass
    link.close()
"""
TRIES = """call -X POST "$approve" | sent child
env -i PATH="$PATH" curl -s -w '\\n%{{http_code}}' -H "Authorization: Bearer $token" -X POST "$approve" | sent bare
{python} {out}/ask.py "$approve" "$token" POST | sent python
{python} {out}/ask.py "$url/api/tasks" "$token" GET | sent read
call "$url/login?token=$token" | sent login
curl -s -w '\\n%{{http_code}}' -X POST -H "Authorization: Bearer wrong" "$approve" | sent guess
env -u SEGUE_RUN {python} {out}/detach.py $$ "curl -s -w '\\n%{{http_code}}' -H 'Authorization: Bearer $token' -X POST $approve > $out/.far; mv $out/.far $out/sent.far"
until [ -e "$out/sent.far" ]; do sleep 0.02; done
"""
REFUSED = ("child", "bare", "python", "read", "login", "guess", "far")


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    made.hand("a", GOOD)
    made.tables.append(f'[notify]\nchannels = ["command:tee -a {made.out}/told"]\n')
    for name, text in (("ask", BY_PYTHON), ("detach", DETACH), ("fire", FIRE)):
        (made.out / f"{name}.py").write_text(text)
    yield made
    made.end_everything()


def attacker(house: House, body: str) -> None:
    text = (AIM + body).format(out=house.out, python=sys.executable)
    house.hand("bad", text + GOOD)


def aim(house: House, server: Server, task: str) -> str:
    """Tell the attacker where the server is, and which review it should approve."""
    review = server.review(task)
    (house.out / ".aim").write_text(f"{server.url} {review}\n")
    (house.out / ".aim").rename(house.out / "aim")
    return review


def refusals(server: Server, task: str) -> list[Json]:
    return [row for row in server.journal(task) if row["type"] == "refusal"]


def notices(house: House) -> list[str]:
    path = house.out / "told"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [line for line in lines if "tried to act as a person" in line]


def test_an_agent_with_the_token_approves_nothing(house: House) -> None:
    """By curl and Python, as a child, without its environment, detached twice from its run; reads
    and logins are refused as well, with 403 for a right token and a wrong one. The journal of its
    task names it, and the person is notified once."""
    attacker(house, TRIES)
    server = house.serve()
    victim = server.new()
    review = aim(house, server, victim)
    bad = server.new("bad")
    server.review(bad)
    for name in REFUSED:
        *body, status = (house.out / bad / f"sent.{name}").read_text().strip().splitlines()
        assert status == "403", (name, body, status)
        problem = json.loads("".join(body))
        assert (problem["code"], problem["status"]) == ("in_a_run", 403), name
        assert problem["run"].startswith(bad), (name, problem)
    assert server.task(victim)["status"] == "review"
    rows = refusals(server, bad)
    assert len(rows) == len(REFUSED)
    tried = [row["metadata"]["tried"] for row in rows]
    assert tried.count(f"POST /api/reviews/{review}/approve") == 5
    assert {"GET /api/tasks", "GET /login"} < set(tried)
    assert {row["metadata"]["via"] for row in rows} == {"rest", "page"}
    assert all(row["metadata"]["actor"].startswith(f"agent {bad}") for row in rows)
    assert TOKEN not in json.dumps(rows)
    until(lambda: notices(house), "the notice")
    server.approve(victim)
    server.reaches(victim, "completed")
    server.approve(bad)
    server.reaches(bad, "completed")
    until(lambda: "Completed: " in (house.out / "told").read_text(), "a later notice")
    assert len(notices(house)) == 1


def test_an_agent_that_waits_for_no_answer_approves_nothing(house: House) -> None:
    """It sends the request and hangs up at once, again and again: nobody knows whose that was,
    and nothing is done."""
    request = (
        '"POST /api/reviews/$review/approve HTTP/1.1|Host: 127.0.0.1|'
        'Authorization: Bearer $token|Content-Length: 0||"'
    )
    place = '"${{url#http://}}"'
    body = (
        f"host={place}\n{{python}} {{out}}/fire.py ${{{{host%:*}}}} ${{{{host##*:}}}} {request}\n"
    )
    attacker(house, body)
    server = house.serve()
    victim = server.new()
    aim(house, server, victim)
    server.review(server.new("bad"))
    assert server.task(victim)["status"] == "review"


def test_an_agent_that_hammers_floods_nothing(house: House) -> None:
    """Hundreds of reads do not hide the one act; both are bounded, and one notice is enough."""
    attacker(
        house,
        'i=0; while [ $i -lt 100 ]; do call "$url/api/tasks"  "$url/api/inbox" > /dev/null;'
        ' i=$((i + 1)); done\ncall -X POST "$approve" | sent act\n',
    )
    server = house.serve()
    aim(house, server, server.new())
    bad = server.new("bad")
    server.review(bad)
    assert (house.out / bad / "sent.act").read_text().endswith("403")
    rows = refusals(server, bad)
    assert len(rows) <= 40
    assert rows[-1]["metadata"]["tried"].startswith("POST /api/reviews/")
    until(lambda: notices(house), "the notice")
    assert len(notices(house)) == 1


def test_a_refused_command_is_journalled_as_well(house: House) -> None:
    """`segue task approve` and `segue task list` in a run: exit 2, a row each, one notice."""
    segue = "SEGUE_TOKEN=$token SEGUE_URL=$url {python} -m segue task"
    attacker(
        house,
        f'{segue} approve "$review" >&2; note $?\n{segue} list >&2; note $?\n'
        f"{segue} list | sent list\n",
    )
    server = house.serve()
    victim = server.new()
    aim(house, server, victim)
    bad = server.new("bad")
    server.review(bad)
    assert house.lines(bad, "notes") == ["2", "2"]
    rows = [row["metadata"] for row in refusals(server, bad)]
    assert [(row["via"], row["tried"]) for row in rows] == [
        ("cli", "segue task approve"),
        ("cli", "segue task list"),
        ("cli", "segue task list"),
    ]
    assert server.task(victim)["status"] == "review"
    until(lambda: notices(house), "the notice")
    assert len(notices(house)) == 1


def test_a_person_works_as_before(house: House) -> None:
    """curl from a shell, also while agents are at work and with an empty SEGUE_RUN; the page."""
    house.hand("busy", "hold never\n")
    server = house.serve()
    server.agent_is(server.new("busy"), "running")
    task = server.new()
    review = server.review(task)
    words = ["curl", "-s", "-f", "-H", f"Authorization: Bearer {TOKEN}"]
    env = {**house.env(), "SEGUE_RUN": ""}
    listed = subprocess.run(
        [*words, f"{server.url}/api/tasks"], env=env, capture_output=True, check=True
    )
    assert json.loads(listed.stdout)["total"] == 2
    approve = f"{server.url}/api/reviews/{review}/approve"
    shell = ["sh", "-c", '"$@"; exit $?', "sh", *words, "-X", "POST", approve]
    subprocess.run(shell, env=env, capture_output=True, check=True)
    server.reaches(task, "completed")
    said = house.segue("task", "list", "--json", env={"SEGUE_URL": server.url})
    assert said.code == 0, said
    assert refusals(server, task) == []
