"""The demonstration: an example blog, with which `make demo` fills an empty instance.

The texts are the Markdown files in `posts/`; `drawings` and `silence` make the pictures and the
sound; `build` stores all through the same pipeline as an import. The same seed and time give the
same blog.
"""
