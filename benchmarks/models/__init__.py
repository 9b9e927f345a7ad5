"""The benchmark models: networks written here with random weights, and where the trained ones lie."""
