"""Where games are played: processes that agents cannot break, on this machine or a cluster."""
