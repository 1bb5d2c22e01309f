"""Training of controllers: three DQN agents that steer runs, on many games at once."""
