"""The one lifecycle of all that is planned, done in pieces, recorded and resumed."""
