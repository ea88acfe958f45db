"""The MCP server: agents ask, report and finish by tool call; a person's agent steers plans."""
