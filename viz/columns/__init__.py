"""What stands upright: vertical sections and soundings."""
