"""Ratings, intervals and tests: pure functions of counts."""
