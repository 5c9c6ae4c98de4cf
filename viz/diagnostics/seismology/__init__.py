"""Ground motion: units of motion, running peaks, intensity, response spectra, travel times. Imports
as ``diagnostics`` does.
"""

__all__ = [
    "focus",
    "ground_motion",
    "intensity",
    "response_spectrum",
    "running_peak",
    "travel_time",
]
