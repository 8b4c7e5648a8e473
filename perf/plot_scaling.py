"""The figure of `keramos-perf distributed`: rates over the number of ranks; plot.py calls it."""

import matplotlib.pyplot as plt
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from plot import INK, style, unique

LINES = ["-", "--", "-.", ":"]


def series_of(rows, scaling):
    """Rows of one line each: of one product, or, where work grows with the ranks, of one that grows."""
    if scaling == "strong":
        shapes = unique((row["m"], row["n"], row["k"]) for row in rows)
        return [[row for row in rows if (row["m"], row["n"], row["k"]) == shape] for shape in shapes]
    series = []
    for row in rows:
        if not series or row["ranks"] <= series[-1][-1]["ranks"]:
            series.append([])
        series[-1].append(row)
    return series


def draw_panel(axes, rows, scaling):
    top = max(row["gflops"] for row in rows)
    scale, unit = (1e-3, "TFLOP/s") if top >= 5000 else (1, "GFLOP/s")
    providers = unique(row["provider"] for row in rows)
    for provider in providers:
        color, marker = style(provider, providers)
        for index, line in enumerate(series_of([r for r in rows if r["provider"] == provider], scaling)):
            first = line[0]
            shape = f"{first['m']} × {first['n']} × {first['k']}"
            if scaling == "weak":
                shape += f" on {first['ranks']}"
            ranks = [row["ranks"] for row in line]
            errors = [row["gflops"] * scale * row["iqr_s"] / 2 / row["median_s"] for row in line]
            axes.errorbar(ranks, [row["gflops"] * scale for row in line], yerr=errors, color=color, marker=marker,
                          linestyle=LINES[index % len(LINES)], markersize=5, capsize=2, label=f"{provider}, {shape}")
            if provider == providers[0]:
                ideal = [first["gflops"] * scale * n / first["ranks"] for n in ranks]
                axes.plot(ranks, ideal, color="#999999", linestyle=(0, (1, 2)), linewidth=1.2,
                          label=f"{provider}, if ranks stayed as fast" if index == 0 else None)
    counts = sorted(unique(row["ranks"] for row in rows))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(counts))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:.0f}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:.3g}"))
    axes.set_xlabel("ranks")
    axes.set_ylabel(f"{unit} of all ranks")
    axes.set_title(f"{rows[0]['type']}   {rows[0]['op_a']}{rows[0]['op_b']}", loc="left", fontsize=11,
                   fontweight="bold", color=INK)


def figure(context, rows):
    kinds = unique((row["type"], row["op_a"], row["op_b"]) for row in rows)
    fig, panels = plt.subplots(1, len(kinds), squeeze=False, figsize=(5.6 * len(kinds), 4.6))
    scaling = context.get("scaling", "strong")
    for axes, kind in zip(panels.flat, kinds):
        draw_panel(axes, [row for row in rows if (row["type"], row["op_a"], row["op_b"]) == kind], scaling)
    nodes = context.get("nodes", 1)
    title = f"{scaling.capitalize()} scaling: {context.get('device', '?')}, {nodes} node{'s' if nodes > 1 else ''}"
    fig.suptitle(title, fontsize=12, fontweight="bold", color=INK)
    entries = {}
    for axes in panels.flat:
        for handle, label in zip(*axes.get_legend_handles_labels()):
            entries.setdefault(label, handle)
    per_line = 2 * len(kinds)
    lines = -(-len(entries) // per_line)
    fig.legend(entries.values(), entries.keys(), loc="lower center", ncol=per_line, frameon=False, fontsize=8.5,
               handlelength=4)
    inch = 1 / fig.get_figheight()
    fig.tight_layout(rect=(0, (0.1 + 0.2 * lines) * inch, 1, 1))
    return fig
