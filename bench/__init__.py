"""Measurements. Each is a ratio of two things timed in the same run, so that it holds on any machine."""
