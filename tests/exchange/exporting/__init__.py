"""The export, by itself and there and back."""
