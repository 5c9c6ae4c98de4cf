"""The live page: one front end for browsers and notebooks, and the files that feed it."""
