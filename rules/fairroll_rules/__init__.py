"""What dice mean: pure rules, answered by whoever holds the chance. Standard library only."""
