"""Tests with the real agent programs, against the fake model."""
