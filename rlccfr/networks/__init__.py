"""Models of infosets' features in place of tables, for deep rules and regression CFR. Only ``models`` imports torch."""
