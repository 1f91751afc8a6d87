"""Programs rewritten at evaluation time: the same training under other names,
or a clean one with a fault planted.
"""
