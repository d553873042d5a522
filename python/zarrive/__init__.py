"""Zarr arrays, read and written straight to and from the memory you compute in."""

from zarrive._core import __version__

__all__ = ["__version__"]
