"""The figures of a run as text and as Markdown."""

from pathlib import Path

NAMES = {
    "default": "zarr-python",
    "fused": "zarr-python fused",
    "zarrs": "zarrs",
    "tensorstore": "TensorStore",
    "limit": "bare loop",
}
BEGIN, END = "<!-- the table below is written by ./dev bench --write-docs -->", "<!-- end of the table -->"


def seconds(value):
    return f"{value:.2f}" if value >= 10 else f"{value:.3f}" if value >= 0.01 else f"{value:.5f}"


def ratio(r):
    return "-" if r is None else f"{r['median']:.2f} ({r['least']:.2f} to {r['most']:.2f})"


def cells(row):
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


def header():
    return "  ".join(h.ljust(n) for h, n in zip(HEADINGS, WIDTHS)).rstrip()


def line(row):
    return "  ".join(c.ljust(n) for c, n in zip(cells(row), WIDTHS)).rstrip()


def markdown(result):
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    text = [
        f"{result['made']}, revision {result['revision']}, arrays of size \"{result['size']}\", {result['threads']} threads, "
        f"{result['pairs']} pairs. {result['machine']}. {versions}.",
        "",
        "| " + " | ".join(HEADINGS) + " |",
        "|---|---|" + "---:|" * (len(HEADINGS) - 2),
    ]
    text += ["| " + " | ".join(cells(row)) + " |" for row in result["rows"]]
    for revision, pairs in dict.fromkeys((row["revision"], row["pairs"]) for row in result["rows"]):
        if (revision, pairs) != (result["revision"], result["pairs"]):
            names = [f"{row['name']} {row['array']}" for row in result["rows"] if (row["revision"], row["pairs"]) == (revision, pairs)]
            text += ["", f"Of revision {revision}, {pairs} pairs: {', '.join(names)}."]
    others = [c for c in NAMES if any(c in row["contestants"] for row in result["rows"])]
    text += ["", "All contestants, median seconds:", ""]
    text += ["| task | array | Zarrive | " + " | ".join(NAMES[c] for c in others) + " |", "|---|---|---:|" + "---:|" * len(others)]
    for row in result["rows"]:
        times = [row["contestants"].get(c) for c in ["zarrive", *others]]
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
    put_between(path, BEGIN, END, markdown(result))
