"""Volumes: several variables on one mesh, as files for ParaView."""
