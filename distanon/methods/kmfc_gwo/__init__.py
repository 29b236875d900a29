"""KMFC-GWO: fuzzy clusters of at least K nodes, and a search for the edits they need."""
