"""``burstlens watch --picture``: the newest picture in the terminal itself.

textual-image asks the terminal while it is imported, loses keys that are typed then, and sends the
whole picture with every refresh; term-image needs an old Pillow. docs/decisions/0041 has what was
measured.
"""

__all__ = ["watching"]
