"""Storms: found in each frame, followed from frame to frame, shown on their way."""
