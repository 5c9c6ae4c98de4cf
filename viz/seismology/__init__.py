"""Ground motion: running peaks, seismograms, spectra."""
