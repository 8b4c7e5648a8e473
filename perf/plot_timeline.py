"""The figure of `keramos-perf distributed --timeline`: what each rank did when; plot.py calls it."""

import matplotlib.pyplot as plt
from matplotlib.patches import Patch

from plot import INK

# Told apart by colour, by lightness and by hatching, of lines: dots are large files. Products of odd steps are paler.
TRANSFERS = {
    "redistribute_a": ("redistribute A", "#dddddd", "||||"),
    "redistribute_b": ("redistribute B", "#b5b5b5", "----"),
    "panels": ("panels arrive", "#7cc4ee", "////"),
    "exchange_sums": ("sums arrive", "#3c7fb0", "xxxx"),
    "write_c": ("write C", "#8a8a8a", "\\\\\\\\"),
}
PRODUCTS = {
    "product": ("product", "#b53d16", None),
    "add_sums": ("add sums", "#e6b800", "++++"),
}
PALE = "#e58a68"
WORDS = 6.5  # points of letters on bars


def longest(intervals):
    """(what, step, begin, end) in ms of each step's longest interval, which gets the label."""
    spans = {}
    for x in intervals:
        if x["step"] is not None:
            span = (x["what"], x["step"], 1e3 * x["begin_s"], 1e3 * x["end_s"])
            spans[span[:2]] = max(spans.get(span[:2], span), span, key=lambda s: s[3] - s[2])
    return list(spans.values())


def draw_lane(axes, intervals, kinds, bottom, height):
    for kind, (_, color, hatch) in kinds.items():
        for shade in (0, 1):
            bars = [(1e3 * x["begin_s"], 1e3 * (x["end_s"] - x["begin_s"])) for x in intervals
                    if x["what"] == kind and (x["step"] or 0) % 2 == shade]
            face = PALE if kind == "product" and shade else color
            axes.broken_barh(bars, (bottom, height), facecolor=face, hatch=hatch, edgecolor=INK, linewidth=0.3)


def label_steps(axes, intervals, kinds, middle, ms_per_letter):
    """Of steps whose bars are wide enough; letters of those that follow would touch otherwise."""
    free_from = float("-inf")
    for what, step, begin, end in sorted(longest(intervals), key=lambda span: span[2]):
        width = ms_per_letter * (len(str(step)) + 0.8)
        if what not in kinds or end - begin < width or (begin + end - width) / 2 < free_from:
            continue
        dark = what == "product" and step % 2 == 0
        box = None if what == "product" else {"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85}
        axes.text((begin + end) / 2, middle, str(step), ha="center", va="center", fontsize=WORDS,
                  color="white" if dark else "black", bbox=box)
        free_from = (begin + end + width) / 2


def title_of(document):
    product = document["product"]
    ranks = product["ranks"]
    shape = f"{product['m']} × {product['n']} × {product['k']}"
    first = (f"{product['type']} {product['op_a']}{product['op_b']} {shape} on {ranks} rank{'s' if ranks > 1 else ''}, "
             f"schedule {product['schedule'].replace('x', ' × ')}, {product['transport']}")
    share = document["hidden_share"]
    if share is None:
        return first, "nothing was transferred between ranks"
    return first, (f"products hide {100 * share:.0f} % of the time of transfers (panels and sums; "
                   f"{1e3 * document['transfers_s'] / ranks:.3g} ms a rank)")


def figure(document):
    ranks = document["ranks"]
    named = len(ranks) <= 16  # lanes have names of their own
    row = 0.62 if named else max(0.16, 12 / len(ranks))
    height = max(2.2, row * len(ranks)) + 1.75
    fig, axes = plt.subplots(figsize=(11, height))
    end = max([1e3 * x["end_s"] for r in ranks for x in r["intervals"]] or [1])
    axes.set_xlim(0, end * 1.005)
    axes.set_ylim(len(ranks), 0)
    lanes = [(TRANSFERS, 0.08), (PRODUCTS, 0.5)]
    lane = 0.42
    inches = fig.get_figwidth() * 0.85
    ms_per_letter = end * WORDS * 0.62 / 72 / inches
    for number, rank in enumerate(ranks):
        for kinds, top in lanes:
            draw_lane(axes, rank["intervals"], kinds, number + top, lane)
            if named:
                label_steps(axes, rank["intervals"], kinds, number + top + lane / 2, ms_per_letter)
    axes.set_yticks([number + 0.5 for number in range(len(ranks))],
                    [f"rank {r['rank']}" if named else str(r["rank"]) for r in ranks])
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    for number in range(1, len(ranks)):
        axes.axhline(number, color="#bbbbbb", linewidth=0.6)
    axes.set_xlabel("ms since all ranks were there; upper lane: transfers, lower lane: products; numbers are steps")
    seen = {x["what"] for r in ranks for x in r["intervals"]}
    patches = [Patch(facecolor=color, hatch=hatch, edgecolor=INK, linewidth=0.3, label=label)
               for kinds in (TRANSFERS, PRODUCTS) for kind, (label, color, hatch) in kinds.items() if kind in seen]
    if any(x["what"] == "product" and x["step"] % 2 for r in ranks for x in r["intervals"]):
        patches.append(Patch(facecolor=PALE, edgecolor=INK, linewidth=0.3, label="product of an odd step"))
    fig.legend(handles=patches, loc="lower center", ncol=min(len(patches), 8), frameon=False, fontsize=8.5)
    first, second = title_of(document)
    inch = 1 / height
    fig.text(0.5, 1 - 0.12 * inch, first, ha="center", va="top", fontsize=12, fontweight="bold", color=INK)
    fig.text(0.5, 1 - 0.42 * inch, second, ha="center", va="top", fontsize=10, color=INK)
    fig.tight_layout(rect=(0, 0.3 * inch, 1, 1 - 0.62 * inch))
    return fig
