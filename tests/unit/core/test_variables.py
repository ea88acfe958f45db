"""Variables that decide which programs run are nobody's to provide."""

from __future__ import annotations

import pytest

from segue.core.variables import decides_what_runs
from segue.dialects.blocks import dependency
from segue.dialects.events import DependencyAsked
from segue.work.phases.variables import variable

LOADERS = (
    "PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "PYTHONPATH", "PYTHONSTARTUP",
    "NODE_OPTIONS", "GIT_SSH_COMMAND", "GIT_CONFIG_COUNT", "BASH_ENV", "ENV", "IFS", "PERL5LIB",
    "PERL5OPT", "RUBYOPT", "RUBYLIB", "GCONV_PATH", "JAVA_TOOL_OPTIONS", "npm_config_prefix", "HOME",
    "MAKEFLAGS", "EDITOR", "path",
)  # fmt: skip
PLAIN = ("STRIPE_KEY", "DATABASE_URL", "GITHUB_TOKEN", "NPM_TOKEN", "ENVIRONMENT", "MY_PATH", "KEY")


@pytest.mark.parametrize("name", LOADERS)
@pytest.mark.parametrize("kind", ["env_variable", "api_key"])
def test_a_request_for_one_is_faulty(name: str, kind: str) -> None:
    """Refused with words that name it, so that the agent can ask for something else."""
    told = dependency({"type": kind, "name": name, "default": "./bin"})
    assert isinstance(told, str) and name in told


@pytest.mark.parametrize("name", PLAIN)
def test_others_may_be_asked_for(name: str) -> None:
    """Names of keys, addresses and tokens."""
    assert not decides_what_runs(name)
    assert isinstance(dependency({"type": "env_variable", "name": name}), DependencyAsked)
    assert variable(name) == name


@pytest.mark.parametrize("name", [*LOADERS, "path ", "ld-preload", "python path"])
def test_nothing_comes_in_one_of_them(name: str) -> None:
    """A file or a service may have any name: its variable has another."""
    assert not decides_what_runs(variable(name))
