"""The report of a run: standings, findings, figures and pages."""
