#!/usr/bin/env python3
"""Draws results of keramos-perf:  python3 perf/plot.py results.json -o OUT_BASENAME

Writes OUT_BASENAME.png and OUT_BASENAME.svg. Files of `keramos-perf ladder`, `roofline` and `distributed`
are drawn by plot_ladder.py, plot_roofline.py, plot_scaling.py and plot_timeline.py beside this file; what
follows is about `keramos-perf gemm` and `batched`. One column of panels for each type, one row for each op and layout. Batches are drawn in
GB/s. Squares become lines of the rate over the size, with a band as wide as the
interquartile range of the times; other shapes become bars. The axis ends at the device's peak.
"""

import argparse
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator  # noqa: E402

# Keramos in the colour of roof tiles, the others in Okabe and Ito's palette for all eyes.
STYLES = {
    "keramos": ("#c4451c", "o"),
    "kokkoskernels-native": ("#0072b2", "s"),
    "kokkoskernels+blas": ("#56b4e9", "D"),
    "kokkoskernels+cublas": ("#56b4e9", "D"),
    "openblas": ("#009e73", "^"),
    "blas": ("#009e73", "^"),
    "mkl": ("#cc79a7", "P"),
    "blis": ("#e69f00", "X"),
    "cublas": ("#009e73", "v"),
}
OTHERS = [("#888888", "P"), ("#b8a000", "h"), ("#7f5f00", "<"), ("#555555", ">")]
INK, FAINT = "#333333", "#d9d9d9"


def read(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    if document.get("schema") != "keramos-perf/1":
        sys.exit(f"{path}: not a keramos-perf/1 file: write the path of one made with --output")
    rows = [row for row in document["results"] if row["gflops"] is not None]
    for row in rows:
        row["rate"] = row.get("gbytes_per_s", row["gflops"])
    if not rows:
        sys.exit(f"{path}: holds no measured results")
    return document["context"], rows


def style(provider, providers):
    """By the library's name without its version; a second one of the same name gets one of OTHERS."""
    name = provider if provider in STYLES else provider.split("-")[0]
    before = [p for p in providers[:providers.index(provider)]
              if (p if p in STYLES else p.split("-")[0]) == name or name not in STYLES]
    if name in STYLES and not before:
        return STYLES[name]
    return OTHERS[len(before) % len(OTHERS)]


def unique(items):
    return list(dict.fromkeys(items))


def is_square(row):
    return row["m"] == row["n"] == row["k"]


def rate_at(row, seconds):
    return row["rate"] * row["median_s"] / seconds


def band(row):
    """Rates at the ends of the interquartile range around the median, never beyond the best."""
    half = row["iqr_s"] / 2
    return (rate_at(row, row["median_s"] + half),
            rate_at(row, max(row["min_s"], row["median_s"] - half)))


def draw_lines(axes, rows, scale):
    providers = unique(row["provider"] for row in rows)
    for provider in providers:
        color, marker = style(provider, providers)
        own = sorted((row for row in rows if row["provider"] == provider), key=lambda r: r["m"])
        sizes = [row["m"] for row in own]
        front = 3 if provider == "keramos" else 2
        low, high = zip(*(band(row) for row in own))
        axes.fill_between(sizes, [v * scale for v in low], [v * scale for v in high],
                          color=color, alpha=0.18, linewidth=0, zorder=front)
        axes.plot(sizes, [row["rate"] * scale for row in own], color=color, marker=marker,
                  markersize=5, linewidth=2.2 if front == 3 else 1.6, label=provider, zorder=front,
                  markeredgecolor="white", markeredgewidth=0.6)
        wrong = [row for row in own if not row["verified"]]
        axes.plot([row["m"] for row in wrong], [row["rate"] * scale for row in wrong], "x",
                  color="black", markersize=10, markeredgewidth=2, zorder=4)
    sizes = sorted(unique(row["m"] for row in rows))
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(thin_out(sizes)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:.0f}"))
    axes.set_xlabel("m = n = k")


def thin_out(sizes):
    """At most about eight labels, and never two that touch on a logarithmic axis."""
    kept = []
    for size in reversed(sizes):
        if not kept or kept[-1] / size >= (sizes[-1] / sizes[0]) ** (1 / 9):
            kept.append(size)
    return kept


def draw_bars(axes, rows, scale):
    shapes = unique((row["m"], row["n"], row["k"]) for row in rows)
    providers = unique(row["provider"] for row in rows)
    height = 0.8 / len(providers)
    for index, provider in enumerate(providers):
        color, _ = style(provider, providers)
        own = [row for row in rows if row["provider"] == provider]
        at = [shapes.index((row["m"], row["n"], row["k"])) - 0.4 + (index + 0.5) * height
              for row in own]
        rates = [row["rate"] * scale for row in own]
        ends = [band(row) for row in own]
        errors = [[max(0, rate - low * scale) for rate, (low, _) in zip(rates, ends)],
                  [max(0, high * scale - rate) for rate, (_, high) in zip(rates, ends)]]
        axes.barh(at, rates, height * 0.9, color=color, label=provider, xerr=errors,
                  error_kw={"ecolor": INK, "elinewidth": 0.8})
    axes.set_yticks(range(len(shapes)), [f"{m} × {n} × {k}" for m, n, k in shapes])
    axes.set_ylim(len(shapes) - 0.45, -0.55)
    axes.grid(axis="y", visible=False)


def draw_peak(axes, peak, kind, lines, unit):
    text = f"peak {peak:.3g} {unit} ({kind})"
    if lines:
        axes.axhline(peak, color=INK, linestyle=(0, (5, 3)), linewidth=1.2)
        axes.set_ylim(0, peak * 1.1)
        axes.annotate(text, (0.01, peak), xycoords=("axes fraction", "data"), xytext=(2, 4),
                      textcoords="offset points", fontsize=8.5, color=INK)
    else:
        axes.axvline(peak, color=INK, linestyle=(0, (5, 3)), linewidth=1.2)
        axes.set_xlim(0, peak * 1.04)
        axes.annotate(text, (peak, 0.01), xycoords=("data", "axes fraction"), xytext=(-4, 2),
                      textcoords="offset points", fontsize=8.5, color=INK, rotation=90, ha="right",
                      va="bottom")


def draw_panel(axes, rows, context, kind_of_data, lines):
    data_type, op, layout = kind_of_data
    operations = "OP/s" if data_type in ("i32", "i8", "i8_i32") else "FLOP/s"
    batched = "gbytes_per_s" in rows[0]
    peak = 0 if batched else context.get("peak_gflops", {}).get(data_type, 0)
    top = max([peak] + [row["rate"] for row in rows])
    scale, unit = (1e-3, "T" + operations) if top >= 5000 else (1, "G" + operations)
    if batched:
        scale, unit = 1, "GB/s (read and written once)"
    (draw_lines if lines else draw_bars)(axes, rows, scale)
    if peak:
        draw_peak(axes, max(peak, 0) * scale, context.get("peak_kind", ""), lines, unit)
        if top > peak:
            (axes.set_ylim if lines else axes.set_xlim)(0, top * scale * 1.08)
    elif lines:
        axes.set_ylim(0, None)
    (axes.set_ylabel if lines else axes.set_xlabel)(unit)
    axes.set_title(f"{data_type}   {op}, layout {layout}", loc="left", fontsize=11,
                   fontweight="bold", color=INK)


def label(provider, context):
    """blas -> blas (OpenBLAS 0.3.21): the name and, where it is not part of it, whose and which."""
    if "-" in provider and provider[-1].isdigit():
        return provider
    version = context.get("providers", {}).get(provider, {}).get("version", "")
    words = version.split("with ")[-1].split()
    known = " ".join(words[:2]) if words and not words[0][0].isdigit() else version
    return f"{provider} ({known.rstrip(',')})" if known else provider


def figure(context, rows):
    lines = all(is_square(row) for row in rows)
    types = unique(row["type"] for row in rows)
    kinds = unique((row["op_a"] + row["op_b"], row["layout"]) for row in rows)
    shapes = len(unique((row["m"], row["n"], row["k"]) for row in rows))
    size = (5.6, 3.9) if lines else (6.4, max(2.6, 0.55 * shapes + 1.2))
    fig, panels = plt.subplots(len(kinds), len(types), squeeze=False,
                               figsize=(size[0] * len(types), size[1] * len(kinds) + 1))
    for row_of_panels, (op, layout) in zip(panels, kinds):
        for axes, data_type in zip(row_of_panels, types):
            own = [row for row in rows if row["type"] == data_type
                   and row["op_a"] + row["op_b"] == op and row["layout"] == layout]
            if own:
                draw_panel(axes, own, context, (data_type, op, layout), lines)
            else:
                axes.set_visible(False)
    entries = {}
    for axes in panels.flat:
        for handle, provider in zip(*axes.get_legend_handles_labels()):
            entries.setdefault(provider, handle)
    inch = 1 / fig.get_figheight()
    labels = [label(provider, context) for provider in entries]
    per_line = max(1, min(len(entries), int(fig.get_figwidth() / 2.7)))
    legend_lines = -(-len(entries) // per_line)
    fig.legend(entries.values(), labels, loc="lower center", ncol=per_line, frameon=False)
    threads = context.get("threads", 1)
    kind = "Batched GEMM" if "gbytes_per_s" in rows[0] else "GEMM"
    title = f"{kind} on {context.get('device', '?')}, {context.get('backend', '?')}"
    if context.get("device_is_host"):
        title += f", {threads} thread{'s' if threads > 1 else ''}"
    fig.text(0.5, 1 - 0.12 * inch, title, ha="center", va="top", fontsize=13, fontweight="bold",
             color=INK)
    most = max(row["repetitions"] for row in rows)
    subtitle = (f"medians of {most} repetitions, bands: interquartile range · Keramos "
                f"{context.get('git_revision', '?')} · Kokkos {context.get('kokkos_version', '?')}"
                f" · {context.get('date', '')[:10]}")
    fig.text(0.5, 1 - 0.40 * inch, subtitle, ha="center", va="top", fontsize=8.5, color="#666666")
    fig.tight_layout(rect=(0, (0.12 + 0.2 * legend_lines) * inch, 1, 1 - 0.58 * inch), w_pad=2.5)
    return fig


def use_style():
    plt.rcParams.update({
        "font.size": 9.5, "axes.grid": True, "grid.color": FAINT, "grid.linewidth": 0.7,
        "axes.axisbelow": True, "axes.spines.top": False, "axes.spines.right": False,
        "axes.edgecolor": "#888888", "axes.labelcolor": INK, "xtick.color": INK,
        "ytick.color": INK, "svg.fonttype": "none", "svg.hashsalt": "keramos",
    })


def figure_of(path):
    """The kind of figure follows from what the file says it is."""
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    if document.get("schema") == "keramos-perf-roofline/1":
        import plot_roofline
        return plot_roofline.figure(document)
    if document.get("schema") == "keramos-perf-timeline/1":
        import plot_timeline
        return plot_timeline.figure(document)
    if document.get("context", {}).get("tool") == "keramos-perf distributed":
        import plot_scaling
        return plot_scaling.figure(*read(path))
    if document.get("context", {}).get("tool") == "keramos-perf ladder":
        import plot_ladder
        return plot_ladder.figure(*read(path))
    return figure(*read(path))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", help="JSON file written by keramos-perf --output")
    parser.add_argument("-o", "--output", required=True, help="path of the pictures, no suffix")
    arguments = parser.parse_args()
    use_style()
    fig = figure_of(arguments.results)
    for suffix in ("png", "svg"):
        fig.savefig(f"{arguments.output}.{suffix}", dpi=150)


if __name__ == "__main__":
    main()
