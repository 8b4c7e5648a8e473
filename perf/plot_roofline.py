"""The figure of `keramos-perf roofline`: ceilings and kernels over the intensity; plot.py calls it."""

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


def draw(axes, device, data_type, kernels):
    roofs = compute_roofs(device, data_type)
    top = max([height for _, height in roofs] or [max(k["gflops"] for k in kernels)])
    bandwidths = device["bandwidth_gbs"]
    ridge = top / bandwidths["memory"]
    seen = [k["memory_intensity"] for k in kernels] + [k["cache_intensity"] for k in kernels
                                                      if k["cache_intensity"]]
    left, right = min(seen + [ridge / 64]) / 2, max(seen + [ridge * 8]) * 2
    low = min([k["gflops"] for k in kernels] + [left * bandwidths["memory"]]) / 2
    for name, rate in bandwidths.items():
        end = min(top / rate, right)
        axes.plot([left, end], [left * rate, end * rate], color=ROOFS.get(name, "#999999"), linewidth=1.8)
        axes.annotate(f"{name} {rate:.4g} GB/s", (end, end * rate), xytext=(-6, -4),
                      textcoords="offset points", fontsize=8, color=ROOFS.get(name, "#999999"),
                      ha="right", va="bottom", rotation_mode="anchor", rotation=38)
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
        mark = MARKS[index % len(MARKS)]
        # Where the kernel meets the roof that bounds it: at its requests under that of the cache.
        bounded_by_cache = [k for k in own if k["bound"] == "L1"]
        others = [k for k in own if k["bound"] != "L1"]
        fractions = [k["fraction"] for k in own if k["bound"]]
        label = f"{short(name)} ({max(fractions):.0%} of {own[0]['bound']})" if fractions else short(name)
        axes.plot([k["cache_intensity"] for k in bounded_by_cache] + [k["memory_intensity"] for k in others],
                  [k["gflops"] for k in bounded_by_cache + others], mark, color=color, markersize=7,
                  markeredgecolor="white", markeredgewidth=0.6, label=label, zorder=3)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=10)
    axes.set_xlim(left, right)
    axes.set_ylim(low, top * 2)
    operations = "OP" if data_type == "i32" else "FLOP"
    axes.set_xlabel(f"{operations}/B, of the traffic that meets the kernel's bound")
    axes.set_ylabel(f"G{operations}/s")
    axes.set_title(data_type, loc="left", fontsize=11, fontweight="bold", color=INK)
    if names:
        axes.legend(fontsize=7.5, loc="lower right", framealpha=0.9)


def figure(document):
    device, kernels = document["device"], document["kernels"]
    types = unique(k["type"] for k in kernels) or list(device["peak_gflops"])
    fig, panels = plt.subplots(1, len(types), squeeze=False, figsize=(7.2 * len(types), 5.6))
    for axes, data_type in zip(panels[0], types):
        draw(axes, device, data_type, [k for k in kernels if k["type"] == data_type])
    fig.suptitle(f"Roofline of {device['name']}", fontsize=13, fontweight="bold", color=INK)
    fig.tight_layout()
    return fig
