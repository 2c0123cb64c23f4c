"""Import: posts of other programs are converted to ours.

A source is opened within limits (`sources`), one adapter per format reads it into `ImportedPost`s
(`formats`), and one pipeline takes them from there: check, render and
compare with what is here, list what is left to a person (`dry_run`), write some at a time
(`writer`). All steps up to rendering run in a confined process; `confined_reading` calls it.
Adapters know a format and no database; the pipeline knows the database and no format.
"""
