"""Pages on which a person walks through a game and sees what a policy does."""
