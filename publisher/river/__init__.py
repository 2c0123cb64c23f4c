"""The river: a polite aggregator. It imports core and storage, and never Flask.

answer -> memory -> policy -> next poll: `fetch` makes one request (behind `gate`), `parse` and
`first_look` read what came, `schedule` plans, `poll_results` stores. `worker` drives all of it.
"""
