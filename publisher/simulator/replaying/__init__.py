"""Replays feeds and their clients: laid out in arrays, compiled, counted; and in plain Python."""
