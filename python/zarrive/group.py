"""Groups and the hierarchy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from zarrive import _core
from zarrive.array import Array
from zarrive.creating import create_array, open_array
from zarrive.node import Node
from zarrive.stores import StoreLike, open_store


class Group(Node):
    """A group: a mapping from names (and paths, "a/b") to arrays and groups.

    Examples
    --------
    >>> import zarrive
    >>> root = zarrive.create_group({})
    >>> a = root.create_array("surface/t2m", shape=(2, 3), dtype="f4")
    >>> "surface/t2m" in root, list(root), root["surface"]
    (True, ['surface'], <zarrive.Group <dict>/surface>)
    >>> print(root.tree())
    /
    └── surface
        └── t2m (2, 3) float32
    """

    def __init__(self, core: _core.Group) -> None:
        self._core = core

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata document as it is stored."""
        documents = self._core.documents
        return documents.get("zarr.json") or documents[".zgroup"]

    @property
    def is_consolidated(self) -> bool:
        """Whether its children are known from consolidated metadata."""
        return self._core.is_consolidated

    # --- its children ---

    def __getitem__(self, name: str) -> Array | Group:
        return _node(self._core.open(name))

    def get(self, name: str, default: Any = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return default

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._core.contains(name)

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._core.children())

    def __len__(self) -> int:
        return len(self._core.children())

    def keys(self) -> Iterator[str]:
        return iter(self)

    def values(self) -> Iterator[Array | Group]:
        return (self[name] for name in self)

    def items(self) -> Iterator[tuple[str, Array | Group]]:
        return ((name, self[name]) for name in self)

    def array_keys(self) -> Iterator[str]:
        return (name for name, kind in self._core.children() if kind == "array")

    def group_keys(self) -> Iterator[str]:
        return (name for name, kind in self._core.children() if kind == "group")

    def arrays(self) -> Iterator[tuple[str, Array]]:
        return ((name, self[name]) for name in self.array_keys())  # type: ignore[misc]

    def groups(self) -> Iterator[tuple[str, Group]]:
        return ((name, self[name]) for name in self.group_keys())  # type: ignore[misc]

    def members(self, max_depth: int | None = 0) -> Iterator[tuple[str, Array | Group]]:
        """(path from here, node) of the children, and of theirs down to `max_depth` levels more (None: all)."""
        start = len(self.path) + 1 if self.path else 0
        for path, _ in self._core.walk():
            inside = path[start:]
            if max_depth is None or inside.count("/") <= max_depth:
                yield inside, self[inside]

    def tree(self, expand: bool | None = None, level: int | None = None) -> Tree:
        """What is below, for people."""
        return Tree(self, level)

    # --- making and deleting ---

    def create_array(self, name: str, **options: Any) -> Array:
        """As zarrive.create_array, below this group and in its format."""
        options.setdefault("zarr_format", self.zarr_format)
        return create_array(self.store, path=self._below(name), **options)

    def create_group(self, name: str, *, attributes: dict[str, Any] | None = None, overwrite: bool = False) -> Group:
        return Group(self._core.create_group(name, attributes, overwrite))

    def require_group(self, name: str) -> Group:
        """The group of this name, made when it is not there."""
        node = self.get(name)
        if node is None:
            return self.create_group(name)
        if not isinstance(node, Group):
            raise TypeError(f"{node.name} is an array")
        return node

    def require_array(self, name: str, *, shape: Any, dtype: Any = None, exact: bool = False, **options: Any) -> Array:
        """The array of this name, made when it is not there. TypeError when it has another shape, or a type that cannot hold `dtype`."""
        import numpy as np

        node = self.get(name)
        if node is None:
            return self.create_array(name, shape=shape, dtype=dtype, **options)
        if not isinstance(node, Array):
            raise TypeError(f"{node.name} is a group")
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        if node.shape != shape:
            raise TypeError(f"{node.name} has the shape {node.shape}, not {shape}")
        if dtype is not None and (node.dtype != np.dtype(dtype) if exact else not np.can_cast(dtype, node.dtype)):
            raise TypeError(f"{node.name} has the type {node.dtype}, not {np.dtype(dtype)}")
        return node

    def __setitem__(self, name: str, value: Any) -> None:
        """Makes an array out of `value`, in place of what is there."""
        self.create_array(name, data=value, overwrite=True)

    def __delitem__(self, name: str) -> None:
        self._core.erase(name)

    def _below(self, name: str) -> str:
        return f"{self.path}/{name}" if self.path else name

    def __repr__(self) -> str:
        return f"<zarrive.Group {self.store.name}/{self.path}>"

    def _repr_html_(self) -> str:
        from zarrive.html import group_html

        return group_html(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Group) and self.path == other.path and self.store.same_as(other.store)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple:
        return Group, (self._core,)


class Tree:
    """The nodes below a group, as lines."""

    def __init__(self, group: Group, level: int | None) -> None:
        nodes: dict[str, Any] = {}
        start = len(group.path) + 1 if group.path else 0
        for path, kind in group._core.walk():
            parts = path[start:].split("/")
            if level is not None and len(parts) > level:
                continue
            into = nodes
            for part in parts[:-1]:
                into = into.setdefault(part, {})
            into[parts[-1]] = {} if kind == "group" else group[path[start:]]
        self.root = group.name
        self.nodes = nodes

    def __repr__(self) -> str:
        lines = [self.root]

        def add(nodes: dict[str, Any], indent: str) -> None:
            for i, (name, node) in enumerate(nodes.items()):
                last = i == len(nodes) - 1
                text = f"{name} {node.shape} {node.data_type.name}" if isinstance(node, Array) else name
                lines.append(indent + ("└── " if last else "├── ") + text)
                if isinstance(node, dict):
                    add(node, indent + ("    " if last else "│   "))

        add(self.nodes, "")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(repr(self))}</pre>"


def _node(core: Any) -> Array | Group:
    return Array(core) if isinstance(core, _core.Array) else Group(core)


def open(store: StoreLike, *, path: str = "", mode: str = "r", zarr_format: int | None = None,
         use_consolidated: bool | None = None, **create: Any) -> Array | Group:
    """Opens what is there, an array or a group. The other arguments are those of `open_array` and `open_group`.

    >>> import zarrive
    >>> _ = zarrive.save("memory://what", [1, 2, 3])
    >>> zarrive.open("memory://what")[:]
    array([1, 2, 3])
    """
    if mode in ("w", "w-") or (mode == "a" and ("shape" in create or "data" in create)):
        return open_array(store, path=path, mode=mode, zarr_format=zarr_format, **create)
    opened = open_store(store, mode)
    try:
        return _node(_core.open_node(opened, path, zarr_format, use_consolidated))
    except KeyError:
        if mode != "a":
            raise
    return create_group(opened, path=path, zarr_format=zarr_format or 3)


def open_group(store: StoreLike, *, path: str = "", mode: str = "r", zarr_format: int | None = None,
               use_consolidated: bool | None = None, attributes: dict[str, Any] | None = None) -> Group:
    """Opens a group.

    Parameters
    ----------
    store : StoreLike
        As `open_store` takes it.
    path : str
    mode : {"r", "r+", "a", "w", "w-"}
        "r": reading only. "r+": must exist. "a": made when it does not exist. "w": made anew. "w-": made, must not exist.
    zarr_format : {2, 3}, optional
    use_consolidated : bool, optional
        True requires consolidated metadata, False does not look at it; absent: it is used when it is there.
    attributes : dict, optional
        Of a group that is made.
    """
    opened = open_store(store, mode)
    if mode in ("w", "w-"):
        return create_group(opened, path=path, zarr_format=zarr_format or 3, attributes=attributes, overwrite=mode == "w")
    try:
        return Group(_core.open_group(opened, path, zarr_format, use_consolidated))
    except KeyError:
        if mode != "a":
            raise
    return create_group(opened, path=path, zarr_format=zarr_format or 3, attributes=attributes)


def create_group(store: StoreLike, *, path: str = "", zarr_format: int = 3, attributes: dict[str, Any] | None = None,
                 overwrite: bool = False) -> Group:
    """Writes the metadata of a new group, and of groups above it that are not there. An error when something is there, unless `overwrite`."""
    return Group(_core.create_group(open_store(store, "a"), path, zarr_format, attributes, overwrite))


def consolidate_metadata(store: StoreLike, path: str = "") -> Group:
    """Gathers the metadata of all nodes below a group into its own document, so that opening it is one request."""
    return Group(_core.consolidate_metadata(open_store(store, "r+"), path))


def tree(store: StoreLike, path: str = "", level: int | None = None) -> Tree:
    """What is below a group, for people."""
    group = store if isinstance(store, Group) else open_group(store, path=path)
    return group.tree(level=level)
