"""Publisher: a blog whose feed tells every reader when to come back."""

__version__ = "1.1.0"
