"""Export: the whole blog as files that people can read and `import` reads back.

    publisher.json   format, settings, authors (no passwords), descriptions of the media
    updates.csv      the update log: instant, kind, guid of the post
    posts/ pages/ scheduled/ drafts/ deleted/
                     one file a post: YAML front matter, then the Markdown (.md) or HTML (.html)
    revisions/       the earlier versions of a post, where there are any
    media/           the pictures and sounds

What is left out: passwords, sessions, tokens, unsaved texts in editors, the readers' statistics and
the river. A backup has those.
"""
