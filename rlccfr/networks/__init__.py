"""Models of infosets' features in place of tables: deep update rules and regression CFR. Torch stays in ``models``."""
