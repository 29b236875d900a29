"""Searches over bit-packed genomes: pure functions that know nothing of what the bits mean."""
