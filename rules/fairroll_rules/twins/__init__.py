"""Faster odds for checks that walking every path cannot reach, one module a system, named as it.

A twin's `odds(check)` returns what `fairroll_rules.odds.distribution` would, or None where it has nothing faster.
"""
