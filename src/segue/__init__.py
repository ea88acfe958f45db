"""Segue runs AI agents unattended and never loses its place."""

__version__ = "0.1.0"
