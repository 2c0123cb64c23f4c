"""Publisher: a blog whose feed tells every reader when to come back."""
