"""Models that map infosets' features to regrets or policies. Deep rules and regression CFR use them in place of tables.

Only ``settings``, ``inputs`` and the reservoirs can be imported without PyTorch.
"""
