"""The record of a run on disk: its folder, its database, and the versions it was made with."""
