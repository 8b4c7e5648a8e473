"""The figure of `keramos-perf roofline`: ceilings and kernels over the intensity; plot.py calls it."""

import math

import matplotlib.pyplot as plt

from plot import INK, STYLES, unique

MARKS = "osD^vPX<>ph*d8"
ROOFS = {"memory": "#333333", "L1": "#0072b2", "L2": "#56b4e9", "L3": "#999999"}
OTHERS = ["#c4451c", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#0072b2", "#8c2d0f"]


def compute_roofs(device, data_type):
    """(name, height) of the units that do this type."""
    roofs = []
    if data_type in device.get("peak_gflops", {}):
        roofs.append((f"{data_type} peak", device["peak_gflops"][data_type]))
    if data_type in device.get("matrix_peak_gflops", {}):
        roofs.append((f"{data_type} matrix peak", device["matrix_peak_gflops"][data_type]))
    return roofs


def short(name):
    return name.split("/")[-1].replace("_", " ") if name.startswith("ladder-") else name


def intensity(kernel):
    return kernel["cache_intensity"] or kernel["memory_intensity"]


def draw_bandwidths(axes, bandwidths, left, right, top):
    """Slanted roofs, named along the line; of two that nearly meet only the slower gets its name there."""
    to_pixels = axes.transData.transform
    rates = sorted(bandwidths.items(), key=lambda item: item[1])
    for index, (name, rate) in enumerate(rates):
        end = min(top / rate, right)
        color = ROOFS.get(name, "#999999")
        axes.plot([left, end], [left * rate, end * rate], color=color, linewidth=1.8)
        (x0, y0), (x1, y1) = to_pixels((left, left * rate)), to_pixels((end, end * rate))
        close = index > 0 and rate < 1.25 * rates[index - 1][1]
        share = 0.62 if close else 0.3
        at = left ** (1 - share) * end ** share
        axes.annotate(f"{name} {rate:.4g} GB/s", (at, at * rate), xytext=(-3, 3), textcoords="offset points",
                      fontsize=8, color=color, rotation=math.degrees(math.atan2(y1 - y0, x1 - x0)),
                      rotation_mode="anchor", ha="center", va="bottom")


def draw(axes, device, data_type, kernels):
    roofs = compute_roofs(device, data_type)
    top = max([height for _, height in roofs] or [max(k["gflops"] for k in kernels)])
    bandwidths = device["bandwidth_gbs"]
    ridge = top / bandwidths["memory"]
    seen = [intensity(k) for k in kernels]
    left, right = min(seen + [ridge / 64]) / 2, max(seen + [ridge * 8]) * 2
    low = min([k["gflops"] for k in kernels] + [left * bandwidths["memory"]]) / 2
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=10)
    axes.set_xlim(left, right)
    axes.set_ylim(low, top * 2)
    draw_bandwidths(axes, bandwidths, left, right, top)
    for name, height in roofs:
        axes.plot([height / max(bandwidths.values()), right], [height, height], color=INK, linewidth=1.8,
                  linestyle="-" if height == top else (0, (5, 3)))
        axes.annotate(f"{name} {height:.4g}", (right, height), xytext=(-2, 3), textcoords="offset points",
                      fontsize=8, ha="right", color=INK)
    if roofs:
        axes.plot([ridge, ridge], [low, top], color="#888888", linewidth=0.8, linestyle=":")
        axes.annotate(f"ridge {ridge:.3g}", (ridge, low), xytext=(3, 3), textcoords="offset points",
                      fontsize=8, color="#666666")
    names = unique(k["kernel"] for k in kernels)
    for index, name in enumerate(names):
        own = [k for k in kernels if k["kernel"] == name]
        color = STYLES[name][0] if name in STYLES else OTHERS[index % len(OTHERS)]
        best = max(own, key=lambda k: k.get("fraction", 0))
        label = short(name) + (f": {best['fraction']:.0%} of {best['bound']}" if best["bound"] else "")
        asks = own[0]["cache_intensity"]
        axes.plot([intensity(k) for k in own], [k["gflops"] for k in own], MARKS[index % len(MARKS)],
                  color=color, markersize=8, markeredgecolor="white" if asks else color,
                  markerfacecolor=color if asks else "none", markeredgewidth=0.6 if asks else 1.6,
                  label=label, zorder=3)
    operations = "OP" if data_type == "i32" else "FLOP"
    axes.set_xlabel(f"{operations}/B that the kernel's items ask for (hollow: of the least traffic of memory)")
    axes.set_ylabel(f"G{operations}/s")
    axes.set_title(data_type, loc="left", fontsize=11, fontweight="bold", color=INK)
    if names:
        axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncol=3, frameon=False)


def figure(document):
    device = document["device"]
    kernels = [k for k in document["kernels"] if "gflops" in k]  # others only move: they have no intensity
    types = unique(k["type"] for k in kernels) or list(device["peak_gflops"])
    fig, panels = plt.subplots(1, len(types), squeeze=False, figsize=(7.2 * len(types), 6.4))
    for axes, data_type in zip(panels[0], types):
        draw(axes, device, data_type, [k for k in kernels if k["type"] == data_type])
    fig.suptitle(f"Roofline of {device['name']}", fontsize=13, fontweight="bold", color=INK)
    fig.tight_layout()
    return fig
