"""`/readers`: the readers `report`, what a learned ttl is `worth`, and how to `advise` any feed."""
