"""What training does in compiled code.

Kernels keep their machine code only where the cache folder's name answers for their sources
(:mod:`core.system.compile`), so those of training are here and nowhere else in ``experiments``.
"""
