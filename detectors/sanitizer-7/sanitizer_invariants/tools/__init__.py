"""What several invariants have in common."""
