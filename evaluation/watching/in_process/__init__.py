"""What runs in the process of the user's program: it needs torch 2.0 and Python 3.8,
and nothing of this project but the kit and the sanitizer.
"""
