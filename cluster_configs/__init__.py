"""What is particular to a machine: its site file and its Parsl configuration."""
