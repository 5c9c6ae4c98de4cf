"""What stands upright: vertical sections, soundings and profiles."""
