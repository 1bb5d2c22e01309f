"""Runs of deep rules without tables over infosets: walks in step, and networks fitted to the data of these walks."""
