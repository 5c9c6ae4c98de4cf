"""Where things run: the model's job and its supervisor, the steps, the buffers, Parsl's blocks.

``launch`` is the seam of launchers (here, in a batch job, inside the job that holds the driver),
``supervisor`` the program that runs beside the model; in a job without an attempt it waits for one
(``go``; ``waiting_jobs`` are those jobs for the driver), ``sentinel`` for a driver that has died,
``host`` serves a job that has its own buffer, ``provision`` makes the buffer, ``stage_in`` brings
the inputs, ``checkpoint_home`` brings checkpoints home. Imports ``recipe``, ``guards``,
``frames``, ``models``, ``notify``, ``cluster_configs``, ``stagers`` and ``core``.
"""

__all__ = [
    "absence",
    "batch",
    "buffer",
    "buffer_origin",
    "checkpoint_home",
    "direct_requests",
    "host",
    "job_buffer",
    "job_end",
    "job_file",
    "job_folder",
    "launch",
    "leftovers",
    "machine_limits",
    "persistent_buffer",
    "provision",
    "stage_in",
    "supervised",
]
