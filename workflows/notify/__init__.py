"""Word of a run to people and programs: mail, webhook, command, desktop.

``options`` are ``[notify]`` of a recipe and of the user's configuration, ``way`` is one way to one
address, ``asked`` keeps those of ``--notify``, ``word`` is what is sent, ``notices`` sends each
word once and journals it. Imports ``core``.
"""

__all__ = ["asked", "notices", "options", "way", "word"]
