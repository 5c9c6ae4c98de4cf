"""How a recipe's MPI-IO hints and stripes reach the model: by its MPI, file system and buffer.

``names`` says which MPI a site has and which hints each one takes, ``delivery`` turns hints by
pattern into variables and files, ``advice`` compares them with ranks and buffer,
``probe`` starts a small program that shows which are in force; ``stripes`` plans stripes of files,
``striping`` sets those of a folder. Imports ``cluster_configs`` and
``core``.
"""

__all__ = ["advice", "delivery", "names", "probe", "stripes", "striping"]
