"""Servers: the app in a browser, and cards for an assistant over MCP."""
