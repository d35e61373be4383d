"""What the tests share: recorded calls, definitions, bounds, and ways to look at results."""
