"""The mathematics: arrays in, arrays out; compiled where that wins."""
