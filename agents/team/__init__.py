"""The three DQNs: training, memory, file and log."""
