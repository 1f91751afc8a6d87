"""A static site from the committed records: pages of bugs, detectors, studies and docs,
without a server.
"""
