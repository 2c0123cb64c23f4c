"""Sites of static generators: what their files mean, and the addresses that their posts had."""
