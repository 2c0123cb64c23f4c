"""HTTP: blueprints that translate requests into use-cases and values into pages. No rules here."""
