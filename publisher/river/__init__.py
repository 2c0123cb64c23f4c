"""The river: a polite aggregator. It imports core and storage, and never Flask.

answer -> memory -> policy -> next poll: `fetch` makes one request, `parse` and `scan`
read what came, `outcome` decides, `store` keeps, `rounds` drives hosts in order.
"""
