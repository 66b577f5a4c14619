"""Checks: is an agent, a program or a search right?

:mod:`~agents.checks.check` has the runner that all of them share.
"""
