"""All in :mod:`core` that is not the game: settings, processes, compiling, terminals."""
