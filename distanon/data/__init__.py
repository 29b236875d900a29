"""Tables and their roles: what everything else speaks of."""
