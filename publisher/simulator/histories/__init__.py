"""Update histories (timelines): read from files, or synthetic."""
