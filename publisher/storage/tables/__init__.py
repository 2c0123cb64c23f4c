"""The tables: columns only, no behaviour, no defaults that read a clock."""
