"""Claude Code's hooks: installed into a project's settings, and answered."""
