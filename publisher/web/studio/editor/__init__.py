"""The editor: its form, autosave, preview, earlier versions, and the buttons of a post."""
