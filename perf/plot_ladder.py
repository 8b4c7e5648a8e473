"""The figure of `keramos-perf ladder`: a bar for each step, as long as its rate; plot.py calls it."""

import matplotlib.pyplot as plt

from plot import INK, unique

# Steps in the colour of roof tiles, variants that show what goes wrong paler, the yardstick apart.
STEP, BESIDE, LIBRARY, VENDOR = "#c4451c", "#e8b9a8", "#8c2d0f", "#009e73"


def color_of(row):
    if row["provider"] == "keramos":
        return LIBRARY
    if not row["provider"].startswith("ladder-"):
        return VENDOR
    return STEP if row["ladder"]["number"] else BESIDE


def title_of(row):
    step, number = row["ladder"]["step"].replace("_", " "), row["ladder"]["number"]
    return f"{number}  {step}" if number else f"({step})"


def figures(rate):
    """Three of them, zeros at the end included."""
    return f"{rate:.0f}" if rate >= 100 else f"{rate:.1f}" if rate >= 10 else f"{rate:.2f}"


def draw(axes, rows, top):
    rates = [row["gflops"] for row in rows]
    unit = "OP/s" if rows[0]["type"] == "i32" else "FLOP/s"
    scale, unit = (1e-3, "T" + unit) if top >= 5000 else (1, "G" + unit)
    at = list(range(len(rows)))
    errors = [row["gflops"] * row["iqr_s"] / 2 / row["median_s"] * scale for row in rows]
    axes.barh(at, [rate * scale for rate in rates], 0.74, color=[color_of(row) for row in rows],
              xerr=errors, error_kw={"ecolor": INK, "elinewidth": 0.8})
    for y, row in zip(at, rows):
        rate = row["gflops"] * scale
        gain = row["ladder"]["gain"]
        text = figures(rate) + (f"   ×{gain:.2f}" if gain else "")
        if not row["verified"]:
            text = "WRONG " + text
        axes.annotate(text, (rate, y), xytext=(5, 0), textcoords="offset points", va="center",
                      fontsize=8.5, color=INK)
    axes.set_yticks(at, [title_of(row) for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, max(rates) * scale * 1.22)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(unit + "   (× over the row above)")
    row = rows[0]
    axes.set_title(f"{row['type']}   m × n × k = {row['m']} × {row['n']} × {row['k']}, "
                   f"tile width {row['ladder']['tile_width']}",
                   loc="left", fontsize=11, fontweight="bold", color=INK)


def figure(context, rows):
    shapes = unique((row["m"], row["n"], row["k"]) for row in rows)
    widths = unique(row["ladder"]["tile_width"] for row in rows)
    types = unique(row["type"] for row in rows)
    kinds = [(shape, width) for shape in shapes for width in widths]
    fig, panels = plt.subplots(len(kinds), len(types), squeeze=False,
                               figsize=(6.8 * len(types), 4.6 * len(kinds) + 0.8))
    for (shape, width), row_of_panels in zip(kinds, panels):
        for data_type, axes in zip(types, row_of_panels):
            same = [row for row in rows if (row["m"], row["n"], row["k"]) == shape
                    and row["type"] == data_type]
            # The yardsticks are measured once for all widths.
            own = [row for row in same if row["ladder"]["tile_width"] == width
                   or not row["provider"].startswith("ladder-")]
            if own:
                draw(axes, own, max(row["gflops"] for row in same))
            else:
                axes.set_visible(False)
    inch = 1 / fig.get_figheight()
    title = f"From the naive product to the library: {context.get('device', '?')}, {context.get('backend', '?')}"
    if context.get("device_is_host"):
        threads = context.get("threads", 1)
        title += f", {threads} thread{'s' if threads > 1 else ''}"
    fig.text(0.5, 1 - 0.12 * inch, title, ha="center", va="top", fontsize=13, fontweight="bold", color=INK)
    fig.text(0.5, 1 - 0.40 * inch,
             f"medians, bars: interquartile range · pale: what goes wrong without the next step · Keramos "
             f"{context.get('git_revision', '?')} · {context.get('date', '')[:10]}" +
             (f" · {context['note']}" if "note" in context else ""),
             ha="center", va="top", fontsize=8.5, color="#666666")
    fig.tight_layout(rect=(0, 0, 1, 1 - 0.58 * inch), w_pad=2.5)
    return fig
