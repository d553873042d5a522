"""The figures of a run as text and as Markdown."""

from pathlib import Path

NAMES = {
    "default": "zarr-python",
    "fused": "zarr-python fused",
    "zarrs": "zarrs",
    "tensorstore": "TensorStore",
    "limit": "bare loop",
    "zarr+zarrive": "zarr-python with Zarrive",
}
BEGIN, END = "<!-- the table below is written by ./dev bench --write-docs -->", "<!-- end of the table -->"
PYTHON_BEGIN, PYTHON_END = "<!-- the table below is written by ./dev bench python --write-docs -->", "<!-- end of the Python table -->"


def seconds(value):
    return f"{value:.2f}" if value >= 10 else f"{value:.3f}" if value >= 0.01 else f"{value:.5f}"


def ratio(r):
    return "-" if r is None else f"{r['median']:.2f} ({r['least']:.2f} to {r['most']:.2f})"


def python_cells(row):
    """A row of the Python bench: us, zarr-python with us, the best of the others; memory beyond the result."""
    one, two = (row["contestants"].get(name) for name in ("zarrive-python", "zarr+zarrive"))
    peer = row.get("best_peer")
    best = row["contestants"].get(peer["with"]) if peer else None

    def memory(c):
        return f"{max(c['peak_bytes'] - c['base_bytes'] - row['result_bytes'], 0) / 1e6:.0f}" if c else "-"

    return [
        row["name"],
        row["array"],
        seconds(one["seconds"]) if one else "-",
        seconds(two["seconds"]) if two else "-",
        f"{seconds(best['seconds'])} {NAMES[peer['with']]}" if best else "-",
        ratio(peer),
        ratio(row.get("plugged_in")),
        memory(one),
        memory(two),
        memory(best),
    ]


def cells(row, suite="core"):
    if suite == "python":
        return python_cells(row)
    ours = row["contestants"].get("zarrive")
    peer, limit = row.get("best_peer"), row.get("limit")
    best = row["contestants"].get(peer["with"]) if peer else None

    def memory(c):
        return f"{c['peak_bytes'] / 1e6:.0f}, +{max(c['peak_bytes'] - c['base_bytes'], 0) / 1e6:.0f}" if c else "-"

    return [
        row["name"],
        row["array"],
        seconds(ours["seconds"]) if ours else "-",
        f"{seconds(best['seconds'])} {NAMES[peer['with']]}" if best else "-",
        ratio(peer),
        seconds(row["contestants"]["limit"]["seconds"]) if limit else "-",
        ratio(limit),
        memory(ours),
        memory(best),
    ]


HEADINGS = ["task", "array", "Zarrive, s", "best peer, s", "Zarrive / peer", "bare loop, s", "Zarrive / loop", "peak MB", "peer's"]
WIDTHS = [30, 5, 10, 24, 20, 12, 20, 13, 13]
PYTHON_HEADINGS = ["task", "array", "zarrive, s", "zarr + zarrive, s", "best other, s", "zarrive / other", "zarr + zarrive / other",
                   "MB beyond the result", "with zarr", "other's"]  # fmt: skip
PYTHON_WIDTHS = [12, 5, 10, 17, 24, 20, 22, 20, 9, 7]


def header(suite="core"):
    headings, widths = (PYTHON_HEADINGS, PYTHON_WIDTHS) if suite == "python" else (HEADINGS, WIDTHS)
    return "  ".join(h.ljust(n) for h, n in zip(headings, widths)).rstrip()


def line(row, suite="core"):
    return "  ".join(c.ljust(n) for c, n in zip(cells(row, suite), PYTHON_WIDTHS if suite == "python" else WIDTHS)).rstrip()


def markdown(result):
    suite = result.get("suite", "core")
    headings = PYTHON_HEADINGS if suite == "python" else HEADINGS
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    text = [
        f"{result['made']}, revision {result['revision']}, arrays of size \"{result['size']}\", {result['threads']} threads, "
        f"{result['pairs']} pairs. {result['machine']}. {versions}.",
        "",
        "| " + " | ".join(headings) + " |",
        "|---|---|" + "---:|" * (len(headings) - 2),
    ]
    text += ["| " + " | ".join(cells(row, suite)) + " |" for row in result["rows"]]
    for revision, pairs in dict.fromkeys((row["revision"], row["pairs"]) for row in result["rows"]):
        if (revision, pairs) != (result["revision"], result["pairs"]):
            names = [f"{row['name']} {row['array']}" for row in result["rows"] if (row["revision"], row["pairs"]) == (revision, pairs)]
            text += ["", f"Of revision {revision}, {pairs} pairs: {', '.join(names)}."]
    us, name = ("zarrive-python", "zarrive") if suite == "python" else ("zarrive", "Zarrive")
    others = [c for c in NAMES if any(c in row["contestants"] for row in result["rows"])]
    text += ["", "All contestants, median seconds:", ""]
    text += [f"| task | array | {name} | " + " | ".join(NAMES[c] for c in others) + " |", "|---|---|---:|" + "---:|" * len(others)]
    for row in result["rows"]:
        times = [row["contestants"].get(c) for c in [us, *others]]
        text.append(
            "| " + " | ".join([row["name"], row["array"], *(seconds(t["seconds"]) if t else "-" for t in times)]) + " |"
        )
    return "\n".join(text) + "\n"


def put_between(path, begin, end, table):
    """Puts a table between its marks; the words around it stay."""
    before, rest = Path(path).read_text().split(begin)
    _, after = rest.split(end)
    Path(path).write_text(f"{before}{begin}\n\n{table}\n{end}{after}")


def write_docs(result, path):
    marks = (PYTHON_BEGIN, PYTHON_END) if result.get("suite") == "python" else (BEGIN, END)
    put_between(path, *marks, markdown(result))
