"""A controller in compiled code: what it sees, what it picks, and the iterations that follow."""
