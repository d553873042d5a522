"""The exceptions of Zarrive. Each is also the built-in one that fits, so `except KeyError` and its like work as expected."""

from __future__ import annotations


class Error(Exception):
    """Base of all errors of Zarrive.

    Attributes
    ----------
    code : str
        What kind of thing went wrong: "not_found", "corrupt_chunk", "unavailable", ...
    message : str
        What was found, what was expected, what to do; without the place.
    store, node, key : str
        Where it happened; empty when not known.
    """

    code: str = "internal"
    message: str = ""
    store: str = ""
    node: str = ""
    key: str = ""

    def __str__(self) -> str:  # KeyError would show the repr
        return str(self.args[0]) if self.args else ""

    def __reduce__(self):
        return _make, (self.code, str(self), self.message, self.store, self.node, self.key)


class NodeNotFoundError(Error, KeyError, FileNotFoundError):
    """There is no array, group or store there. (A missing chunk is no error: it reads as the fill value.)"""


class NodeExistsError(Error, FileExistsError, ValueError):
    """Something is there already."""


class InvalidArgumentError(Error, ValueError):
    """The call asked for something that has no meaning."""


class OutOfBoundsError(Error, IndexError):
    """A position or byte range outside what there is."""


class MetadataError(Error, ValueError):
    """A metadata document that breaks the specification."""


class UnsupportedError(Error, NotImplementedError):
    """An operation, or an extension of the format, that is not there."""


class UnsupportedCodecError(UnsupportedError, ValueError):
    """A codec that is unknown, refused, or not built in. The array can still be looked at."""


class UnsupportedDataTypeError(UnsupportedError, TypeError):
    """A data type that is unknown."""


class CorruptChunkError(Error, ValueError):
    """Stored bytes that do not decode to what the metadata says."""


class CorruptStoreError(Error, ValueError):
    """A container, such as a zip's directory, that is broken."""


class StorePermissionError(Error, PermissionError):
    """The operating system or a service said no, or a read-only store was written."""


class UnavailableError(Error, OSError):
    """Reading or writing failed and may work later."""


class ResourceLimitError(Error, MemoryError):
    """A bound on memory, depth or size was reached."""


class CancelledError(Error):
    """The call was stopped."""


class InternalError(Error, RuntimeError):
    """A fault of Zarrive. Please report it."""


_CLASSES: dict[str, type[Error]] = {
    "not_found": NodeNotFoundError,
    "already_exists": NodeExistsError,
    "invalid_argument": InvalidArgumentError,
    "out_of_bounds": OutOfBoundsError,
    "invalid_metadata": MetadataError,
    "unsupported_codec": UnsupportedCodecError,
    "unsupported_data_type": UnsupportedDataTypeError,
    "unsupported": UnsupportedError,
    "corrupt_chunk": CorruptChunkError,
    "corrupt_store": CorruptStoreError,
    "permission": StorePermissionError,
    "unavailable": UnavailableError,
    "resource_limit": ResourceLimitError,
    "cancelled": CancelledError,
    "internal": InternalError,
}


def _make(code: str, text: str, message: str, store: str, node: str, key: str) -> Error:
    error = _CLASSES.get(code, Error)(text)
    error.code, error.message, error.store, error.node, error.key = code, message, store, node, key
    return error
