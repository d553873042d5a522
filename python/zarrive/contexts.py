"""The map that gives every key the same context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, TypeVar

T = TypeVar("T")


class ConstantMap(Mapping[str, T], Generic[T]):
    """A read-only mapping from each of the keys to one constant, which is stored once (zarr-python 2.15's).

    >>> contexts = ConstantMap(["c/0", "c/1"], constant=None)
    >>> len(contexts), "c/1" in contexts, "c/2" in contexts
    (2, True, False)
    >>> contexts == {"c/0": None, "c/1": None}
    True
    """

    def __init__(self, keys: Iterable[str], constant: T) -> None:
        self._keys = dict.fromkeys(keys)
        self._constant = constant

    def __getitem__(self, key: str) -> T:
        if key not in self._keys:
            raise KeyError(key)
        return self._constant

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        return repr(dict(self.items()))
