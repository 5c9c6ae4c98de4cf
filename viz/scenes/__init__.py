"""Scenes: a frame in three dimensions, rendered by VTK off screen."""
