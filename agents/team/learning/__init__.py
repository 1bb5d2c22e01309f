"""Learning of a team from what it has measured: by Q-learning, or by a fit of finished values."""
