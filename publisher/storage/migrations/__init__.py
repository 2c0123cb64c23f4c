"""The schema's history: one file a step, applied in order, never edited once released."""
