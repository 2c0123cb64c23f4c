"""The parts' own tests, a folder each."""
