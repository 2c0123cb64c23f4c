"""The database: engine and sessions, tables, migrations.

Models are columns only; what may happen to a row is said by the use-cases in `blog`, `feeds`,
`readers` and `river`. SQL stays portable between SQLite and PostgreSQL; what only SQLite has
(full-text search, pragmas) stands behind a function of its own.
"""
