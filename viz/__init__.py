"""From a frame to a product: read, crop, draw, write."""
