"""The readers report: verdicts, delays, reach, charts, computed from the stored counts."""
