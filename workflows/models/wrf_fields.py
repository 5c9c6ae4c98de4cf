"""The prognostic fields of WRF (ARW), as frames and restart files name them."""

from __future__ import annotations

_DYNAMIC = ("U", "V", "W", "PH", "T", "THM", "MU")
_MOISTURE = ("QVAPOR", "QCLOUD", "QRAIN", "QICE", "QSNOW", "QGRAUP", "QHAIL")
PROGNOSTIC = (*_DYNAMIC, *_MOISTURE)
"""As frames have them."""
RESTART_FIELDS = (*(f"{name}_{level}" for name in _DYNAMIC for level in (1, 2)), *_MOISTURE)
"""As restart files have them: the dynamics at both time levels."""
