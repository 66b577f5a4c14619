"""Training in compiled code.

Kernels keep their machine code only if the cache folder's name depends on their sources
(:mod:`core.system.compile`), so those of training are here and nowhere else in ``training``.
"""
