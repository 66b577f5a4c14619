"""The board in the browser: a server for this machine, and the page that it serves."""
