"""What an intruder gains from a release."""
