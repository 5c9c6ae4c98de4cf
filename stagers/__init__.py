"""How a file leaves the burst buffer: one stager a module, one contract for all."""
