"""What a run leaves on disk: its folder, its database, and what it was made with."""
