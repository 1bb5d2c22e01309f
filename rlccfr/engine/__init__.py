"""A run: its tables, the components bound to it, and the steppers that advance it."""
