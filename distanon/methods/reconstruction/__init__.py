"""k-anonymous data reconstruction by genetic instance selection (Zhu, Li & Wu 2009)."""
