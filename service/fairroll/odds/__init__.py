"""Exact odds: what a check can give, before it is rolled. Nothing in here draws for a roll that counts."""
