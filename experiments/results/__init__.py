"""Commands on the folders under ``results/``: list, show, report anew, compare, verify, export."""
