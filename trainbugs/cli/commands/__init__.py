"""The subcommands of `trainbugs`: one module for each, with its options,
its arguments and what it does.
"""
