"""The rules as pure functions: no I/O, clock, database, web framework or random numbers.

All input comes as arguments, `now` included. The live program and the simulator call the same
function objects.
"""
