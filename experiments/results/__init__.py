"""Looking at what is under ``results/``: listed, shown, reported anew, and compared."""
