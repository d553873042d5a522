"""The figures of ./dev gpu-check as text and as Markdown."""

import tables

BEGIN, END = "<!-- the table below is written by ./dev gpu-check --write-docs -->", "<!-- end of the table of the GPU -->"

HEADINGS = [
    "read into device memory", "stored, MB", "GB/s", "in a stream", "device decodes", "host decodes", "at most", "reached",
    "to host memory", "way of the bytes",
]  # fmt: skip
WIDTHS = [42, 10, 6, 11, 14, 12, 12, 7, 14, 30]


def gbs(value):
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def size(count):
    for unit in ("bytes", "KiB", "MiB"):
        if count < 1024 or unit == "MiB":
            return f"{count:g} {unit}"
        count /= 1024


def name(row):
    if row["kind"] == "array":
        return f"array {row['name']}"
    return f"{row['name']}, chunks of {size(row['chunk_bytes'])}"


def ways(row):
    total = sum(row["ways"].values())
    return ", ".join(way if count == total else f"{way} {count / total:.0%}" for way, count in row["ways"].items() if count)


def cells(row):
    if "error" in row:
        return [name(row), *["-"] * (len(HEADINGS) - 2), row["error"]]
    ceiling = row["ceiling"]

    def speed(way):
        return gbs(row[way]["gbs"]) if way in row else "-"

    return [
        name(row),
        f"{row['stored_bytes'] / 1e6:.1f}",
        speed("device"),
        speed("stream"),
        speed("device_decodes"),
        speed("host_decodes"),
        f"{gbs(ceiling['gbs'])} ({ceiling['of']})",
        f"{row['device']['gbs'] / ceiling['gbs']:.0%}",
        speed("host"),
        ways(row),
    ]


def header():
    return "  ".join(h.ljust(n) for h, n in zip(HEADINGS, WIDTHS)).rstrip()


def line(row):
    return "  ".join(c.ljust(n) for c, n in zip(cells(row), WIDTHS)).rstrip()


def ceilings(rows):
    """{"host to device": [("1 MiB", 24.1), ...], ...} of the rows of that kind, in their order."""
    out = {}
    for row in rows:
        if row["kind"] == "copy":
            out.setdefault(row["name"], []).append((size(row["bytes"]), row["speed"]["gbs"]))
        elif row["kind"] == "read":
            threads = f"{row['threads']} thread{'s' if row['threads'] > 1 else ''}"
            out.setdefault(row["name"], []).append((threads, row["speed"]["gbs"]))
    return out


def ceilings_text(rows):
    return [
        f"{what + ', GB/s':<42}  " + "  ".join(f"{label} {gbs(value)}" for label, value in values)
        for what, values in ceilings(rows).items()
    ]


def found(library):
    return "none" if library["reason"] else library["version"] or "found"


def machine(result):
    gpu = result["gpu"]
    device = gpu["devices"][0]
    text = f"{device['name']} ({device['memory_bytes'] / 2**30:.0f} GiB, compute capability {device['compute_capability']})"
    text += f", driver for CUDA {gpu['driver']['version']}"
    for key, label in (("cufile", "cuFile"), ("nvcomp", "nvCOMP"), ("kernels", "own kernels")):
        if key in gpu:
            text += f", {label} {found(gpu[key])}"
    return text


def markdown(result):
    rows = [row for row in result["rows"] if row["kind"] in ("array", "chunks")]
    text = [
        f"{result['made']}, revision {result['revision']}, arrays of size \"{result['size']}\", {result['threads']} threads, medians of "
        f"{result['runs']} runs. {machine(result)}. {result['machine']}.",
        "",
    ]
    text += [
        f"- {what}, GB/s: " + ", ".join(f"{label} {gbs(value)}" for label, value in values)
        for what, values in ceilings(result["rows"]).items()
    ]
    text += ["", "| " + " | ".join(HEADINGS) + " |", "|---|" + "---:|" * (len(HEADINGS) - 2) + "---|"]
    text += ["| " + " | ".join(cells(row)) + " |" for row in rows]
    return "\n".join(text) + "\n"


def write_docs(result, path):
    tables.put_between(path, BEGIN, END, markdown(result))
