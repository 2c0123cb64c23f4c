"""The database: engine and sessions, tables, migrations.

Models are columns only; the rules for their rows are in the rooms above (`blog`, `publishing`,
`readers`, `river` ...). SQL stays portable between SQLite and PostgreSQL; where they differ
(full-text search, locks, pragmas) a function here hides it.
"""
