"""The generators whose sites are read: which of their files are posts, which pages, and the address
and the guid that each had, by the rules of the generator and the settings of the site.
"""
