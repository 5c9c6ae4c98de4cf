"""A run opened from Python: its status, frames and pictures, and its dashboard in a notebook."""
