"""Measuring every algorithm of a catalog on several games, over any executor, so that nothing measured is lost."""
