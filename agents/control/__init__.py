"""Training of controllers, which are three DQN agents that steer runs of CFR, on many games at once."""
