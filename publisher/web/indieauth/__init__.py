"""IndieAuth: programs find this site, ask its author for consent, and get a token for Micropub.

`auth` is the consent page, `endpoints` are the addresses that programs call before and after it,
`client` checks and describes a program.
"""
