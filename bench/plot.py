"""plot.py BENCH.json OUT.svg: our time divided by the best peer's, a bar a row, the spread as a whisker."""

import json
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
from tables import NAMES  # noqa: E402

matplotlib.rcParams["svg.hashsalt"] = "zarrive"  # the same figures give the same file


def main():
    source, target = sys.argv[1:]
    with open(source) as file:
        result = json.load(file)
    rows = [row for row in result["rows"] if "best_peer" in row and not row["task"].startswith("sharding")]
    labels = [f"{row['name']} {row['array'].strip('-')}".strip() for row in rows]
    middle = [row["best_peer"]["median"] for row in rows]
    spread = [
        [r["best_peer"]["median"] - r["best_peer"]["least"] for r in rows],
        [r["best_peer"]["most"] - r["best_peer"]["median"] for r in rows],
    ]
    figure, axes = plt.subplots(figsize=(8, 1 + 0.24 * len(rows)), layout="constrained")
    y = range(len(rows))
    axes.barh(y, middle, xerr=spread, color=["#2a7f62" if m <= 1 else "#b5523b" for m in middle], height=0.7,
              error_kw={"elinewidth": 0.8, "ecolor": "#333333"})
    axes.axvline(1, color="#333333", linewidth=1)
    axes.set_yticks(y, labels, fontsize=8)
    axes.invert_yaxis()
    axes.margins(y=0.01)
    for position, row in zip(y, rows):
        axes.text(row["best_peer"]["most"], position, f"  {NAMES[row['best_peer']['with']]}", va="center", fontsize=7)
    axes.set_xlim(0, max(1.1, *(r["best_peer"]["most"] for r in rows)) * 1.25)
    axes.set_xlabel("Zarrive's time / the best peer's (named beside the bar); shorter is better")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(target, metadata={"Date": None})


main()
