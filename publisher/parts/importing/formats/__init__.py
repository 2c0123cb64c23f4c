"""The formats that blogs come in, a module for each; `recognition` finds out which a source has."""
