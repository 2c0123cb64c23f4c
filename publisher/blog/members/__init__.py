"""Authors: their accounts and logins, what each may do, the programs that act for them."""
