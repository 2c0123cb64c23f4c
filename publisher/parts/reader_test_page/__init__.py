"""The page on which anybody may test a feed reader."""
