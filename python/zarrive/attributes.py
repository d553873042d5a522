"""Attributes of arrays and groups, written as they are set."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any


class Attributes(MutableMapping[str, Any]):
    """The attributes of a node, as a mapping whose every change is written at once.

    >>> import zarrive
    >>> group = zarrive.create_group({})
    >>> group.attrs["title"] = "a test"
    >>> group.attrs.update(units="K", levels=[1, 2])
    >>> group.attrs.asdict()
    {'title': 'a test', 'units': 'K', 'levels': [1, 2]}
    """

    def __init__(self, node: Any) -> None:
        self._node = node

    def asdict(self) -> dict[str, Any]:
        """A copy."""
        return self._node.attributes

    def put(self, attributes: dict[str, Any]) -> None:
        """Replaces them all."""
        self._node.set_attributes(dict(attributes))

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Several at once: one write."""
        self.put({**self.asdict(), **dict(*args, **kwargs)})

    def __getitem__(self, name: str) -> Any:
        return self.asdict()[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.update({name: value})

    def __delitem__(self, name: str) -> None:
        attributes = self.asdict()
        del attributes[name]
        self.put(attributes)

    def __iter__(self) -> Iterator[str]:
        return iter(self.asdict())

    def __len__(self) -> int:
        return len(self.asdict())

    def __repr__(self) -> str:
        return repr(self.asdict())
