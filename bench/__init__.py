"""The measurements behind every figure in the README: ``make bench``."""
