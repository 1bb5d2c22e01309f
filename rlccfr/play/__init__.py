"""Games of a person against a policy, in a terminal."""
