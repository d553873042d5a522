"""What an array is, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zarrive.array import Array


class Info:
    """What an array is, for people."""

    def __init__(self, array: Array) -> None:
        a = array
        self.items: list[tuple[str, str]] = [
            ("Store", a.store.name),
            ("Path", a.path),
            ("Zarr format", str(a.zarr_format)),
            ("Data type", a.data_type.name),
            ("Shape", str(a.shape)),
            ("Chunks", str(a.chunks)),
        ]
        if a.shards:
            self.items.append(("Shards", str(a.shards)))
        if a.dimension_names:
            self.items.append(("Dimension names", ", ".join(str(name) for name in a.dimension_names)))
        self.items += [
            ("Fill value", repr(a.fill_value)),
            ("Codecs", ", ".join(str(c.get("name", c.get("id"))) if isinstance(c, dict) else str(c) for c in a.codecs)),
            ("Read-only", str(a.read_only)),
            ("Bytes", f"{a.nbytes:,}" if not a.data_type.is_variable else "of variable length"),
        ]

    def __repr__(self) -> str:
        width = max(len(name) for name, _ in self.items)
        return "\n".join(f"{name:<{width}} : {value}" for name, value in self.items)

    def _repr_html_(self) -> str:
        from zarrive.html import table

        return table(self.items)
