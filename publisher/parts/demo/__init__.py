"""The demonstration: an example blog, with which `make demo` fills an empty instance.

The texts are the Markdown files in `posts/`, the drawings stand in `pictures/`; `build` stores all
through the same pipeline as an import. The same seed and time give the
same blog.
"""
