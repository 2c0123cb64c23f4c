"""Markup: Markdown to the HTML that readers get, formulas, and the list of allowed elements."""
