"""How choices are judged: evidence, statistics, tables, the report."""
