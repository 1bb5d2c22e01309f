"""Q-learning of a team from what it has measured."""
