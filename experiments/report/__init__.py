"""What a run says of itself: standings, findings, figures and reports."""
