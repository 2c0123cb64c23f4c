"""Measurements: `python -m bench [NAME...]`. Each figure with its baseline, from the same run.

A module here that has a `run()` is a measurement; it returns tables or prints for itself.
Absolute times belong to the machine they were taken on; the ratios are what counts.
"""
