"""How a recipe's MPI-IO hints and stripes reach the model: by its MPI, file system and buffer.

``which_mpi`` says which MPI a site has, ``names`` which hints each one takes, ``delivery`` turns
hints by pattern into variables and files, ``advice`` compares them with ranks and buffer,
``probe`` starts a small program that shows which are in force. Imports ``cluster_configs`` and
``core``.
"""

__all__ = ["advice", "delivery", "file_system", "names", "probe", "which_mpi"]
