"""A believable blog for an empty instance: what `make demo` fills in.

All texts, drawings and sounds are made here (`articles`, `notes`, `pictures`, `sound`); `build`
puts them in through the same pipeline as every import. The same seed and moment give the same
blog.
"""
