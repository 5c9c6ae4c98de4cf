"""An emulation of the DataWarp service that Slurm's burst_buffer/datawarp plugin talks to.

It stands in for a machine's service, not for anything of Burstlens: the pools, sessions,
instances, configurations and activations of DataWarp in one JSON file, each instance backed by a
plain directory. Slurm, job scripts and programs see what they would see there. Standard library
only, for any Python from 3.10 on.
"""
