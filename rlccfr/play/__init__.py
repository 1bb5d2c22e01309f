"""Games of a person against a policy, played in a terminal."""
