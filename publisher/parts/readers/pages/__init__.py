"""Pages about readers: the `report`, what a learned ttl is `worth`, how to `advise` any feed, and
what the studio's own pages say of readers (`summary`, `places`)."""
