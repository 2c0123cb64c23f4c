"""A believable blog for an empty instance: what `make demo` fills in.

The texts are the Markdown files in `posts/`, the drawings and the sound are made by `drawings` and
`silence`; `build` puts them in through the same pipeline as every import. The same seed and moment
give the same blog.
"""
