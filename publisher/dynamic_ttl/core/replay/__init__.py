"""What a decision means for readers: what a feed announces over time, and the polls of readers that
obey it, replayed poll by poll or as expectations."""
