"""Models of infosets' features in place of tables, for deep rules and regression CFR.

Only ``settings``, ``inputs`` and the reservoirs can be imported without PyTorch.
"""
