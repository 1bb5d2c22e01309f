"""Pages on which a person moves through a game and sees what a policy does."""
