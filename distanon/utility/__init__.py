"""What a release keeps of the original."""
