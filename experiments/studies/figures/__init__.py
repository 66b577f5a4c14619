"""The figures of studies, a file each."""
