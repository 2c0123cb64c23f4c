"""Import: other programs' posts become ours.

A source is opened within limits (`sources`), one adapter per format reads it into `ImportedPost`s
(`rss`, `atom`, `jsonfeed`, `wxr`, `markdown`), and one pipeline takes them from there: check and
render (`ready`), compare with what is here (`plan`), write all or nothing (`store`). Adapters know
a format and no database; the pipeline knows the database and no format.
"""
