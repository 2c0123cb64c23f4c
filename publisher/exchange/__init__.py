"""Exchange: a whole blog goes out (`export`); texts with front matter; long jobs of the studio."""
