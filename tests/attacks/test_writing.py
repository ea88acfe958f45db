"""An agent writes in its workspace and nowhere else."""

from __future__ import annotations

from pathlib import Path

from kit.attack import WITHIN, WITHOUT, Stranger, both_ways, needs_sandbox


@both_ways
def test_nothing_is_written_beside_the_project(stranger: Stranger, sandbox: str) -> None:
    """What an agent writes outside of its workspace never reaches the disk."""
    box = stranger.box
    script = f"echo x > {box.out}/planted; echo x > {box.tmp}/planted; echo x > $HOME/.bashrc"
    stranger.tries(script + "; true", sandbox)
    for path in (box.out / "planted", box.tmp / "planted", box.home / ".bashrc"):
        assert path.exists() is (sandbox == WITHOUT), path


@both_ways
def test_the_memory_of_segue_cannot_be_changed(stranger: Stranger, sandbox: str) -> None:
    """An agent can neither plant files in Segue's memory nor delete it."""
    kept = stranger.memory("logs", "kept.log")
    kept.parent.mkdir(parents=True)
    kept.write_text("kept\n")
    stranger.tries(f'echo x > "{kept.parent}/planted"; rm -f "{kept}"; true', sandbox)
    assert kept.exists() is (sandbox == WITHIN)
    assert (kept.parent / "planted").exists() is (sandbox == WITHOUT)


@both_ways
def test_a_link_is_not_written_through(stranger: Stranger, sandbox: str) -> None:
    """A link from the workspace to the outside writes nothing there."""
    box = stranger.box
    stranger.tries(f"ln -s {box.out} door; echo x > door/planted; rm -f door; true", sandbox)
    assert (box.out / "planted").exists() is (sandbox == WITHOUT)


@needs_sandbox
def test_the_temporary_folder_is_the_agents_own(stranger: Stranger, tmp_path: Path) -> None:
    """What an agent leaves in /tmp is gone with it, and it sees nothing of what others have
    there; the system is read-only."""
    script = """
mkdir /tmp/of-the-agent && echo private > found
for path in /usr/planted /etc/planted /opt/planted /planted; do
  { echo x > $path; } 2>/dev/null && echo "wrote $path" >> found
done
true"""
    assert stranger.tries(script, WITHIN) == "private\n"
    assert not Path("/tmp/of-the-agent").exists()


@needs_sandbox
def test_segue_itself_in_the_workspace_is_read_only(stranger: Stranger) -> None:
    """Segue's own code is never the agent's to write, wherever it is installed: what an agent
    wrote there would run as Segue."""
    script = """
python="$(python3 -c 'import sys; print(sys.executable)')"
{ echo "import os" > "$SEGUE_CODE/planted.py"; } 2>/dev/null && echo wrote > found
true"""
    import segue

    package = Path(segue.__file__).parent
    found = stranger.tries(script.replace("$SEGUE_CODE", str(package)), WITHIN)
    assert found == ""
    assert not (package / "planted.py").exists()
