"""What peers.py prints and writes: a text table, JSON, and a bar chart."""
import json
import platform
import statistics
from datetime import datetime, timezone
from importlib import metadata


def processor():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            flags = next(f for f in open("/proc/cpuinfo") if f.startswith("flags"))
            levels = [name for name in ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_int8")
                      if f" {name}" in flags]
            return f"{line.split(':', 1)[1].strip()} ({' '.join(levels)})"
    return platform.machine()


def header(revision):
    versions = {name: metadata.version(name) for name in ("onnxruntime", "openvino", "onnx", "numpy")}
    return {"date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"), "processor": processor(),
            "kernel": platform.release(), "ingot": revision, "versions": versions}


def milliseconds(seconds):
    return f"{seconds * 1e3:.3g}" if seconds < 0.1 else f"{seconds * 1e3:.0f}"


def table(lines):
    """Columns padded to the widest cell, the first one to the left."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in
                               enumerate(zip(line, widths))).rstrip() for line in lines) + "\n"


def heading(head):
    versions = ", ".join(f"{name} {version}" for name, version in head["versions"].items())
    return f"{head['date']}, {head['processor']}, ingot {head['ingot']}, {versions}\n"


def verdict(row, name):
    return "held" if row.ratio(name) >= row.case.ratio else "not held"


def cpu_cell(row, name):
    """With several threads CPU time counts those that wait for work, too."""
    ratio = row.cpu_ratio(name) if row.threads == 1 else None
    return "-" if ratio is None else f"{ratio:.2f}"


def row_cells(row, names):
    cells = [row.case.name, str(row.threads)]
    for name in names:
        cells.append(milliseconds(row.median(name)) if row.times.get(name) else "-")
    ours = row.ours()
    if not ours:
        return cells + ["-", "-", "-", f"{row.case.ratio:.2f}", "-", "-"]
    name = ours[0]
    error = row.errors.get(name)
    return cells + [f"{row.ratio(name):.2f}", f"{row.ratio(name, of=min):.2f}",
                    cpu_cell(row, name), f"{row.case.ratio:.2f}",
                    "-" if error is None else f"{error:.0e}", verdict(row, name)]


def warm_text(head, rows, names):
    """Medians in milliseconds; the ratios are of medians and of minima, both to the fastest peer."""
    lines = [["case", "threads", *names, "ratio", "of minima", "of CPU", "wanted", "error", "bar"]]
    text = heading(head) + "median ms; ratio = fastest peer / ingot\n\n"
    text += table(lines + [row_cells(row, names) for row in rows])
    ratios = [row.ratio(row.ours()[0]) for row in rows if row.ours()]
    if ratios:
        text += f"\ngeometric mean of {len(ratios)} ratios: {statistics.geometric_mean(ratios):.3f}\n"
    return text + stream_text(rows) + failures_text(rows)


def stream_text(rows):
    """How near decoders come to the pace of memory, which was measured in turn with them."""
    lines = []
    for row in rows:
        for name in [name for name in row.times if name != "stream"] if "stream" in row.times else []:
            lines.append(f"{row.case.name}, {row.threads} threads, {name}: {row.median('stream') / row.median(name):.0%} of "
                         f"stream read, which is {row.case.read_bytes / row.median('stream') / 1e9:.1f} GB/s\n")
    return "".join(lines)


def failures_text(rows):
    return "".join(f"failed: {row.case.name}, {row.threads} threads, {name}: {text}\n"
                   for row in rows for name, text in row.failures.items())


def start_text(head, rows):
    lines = [["case", "threads", "implementation", "build ms", "load ms", "first run ms", "both ms", "peak MB",
              "above start MB", "model MB"]]
    for row in rows:
        for name, start in row.starts.items():
            build = row.builds[name.split()[0]].get("seconds")
            lines.append([row.case.name, str(row.threads), name, milliseconds(build) if build else "-",
                          milliseconds(start["load"]), milliseconds(start["first"]),
                          milliseconds(start["load"] + start["first"]), f"{start['peak_memory'] / 1e6:.0f}",
                          f"{(start['peak_memory'] - start['start_memory']) / 1e6:.0f}", f"{row.model_bytes / 1e6:.0f}"])
    return heading(head) + "fresh process each; import and process start excluded\n\n" + table(lines) + failures_text(rows)


def write_json(path, head, rows):
    path.write_text(json.dumps({**head, "rows": [row.as_json() for row in rows]}, indent=1) + "\n")


def write_chart(path, head, rows):
    """One bar per case and number of threads: how many times faster than the fastest peer."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    bars = [(f"{row.case.name}, {row.threads}t", row.ratio(row.ours()[0]), row.case.ratio) for row in rows if row.ours()]
    if not bars:
        return
    labels, ratios, wanted = zip(*reversed(bars))
    figure, axes = pyplot.subplots(figsize=(9, 1.2 + 0.28 * len(bars)), layout="constrained")
    axes.barh(labels, ratios, color=["#2c7fb8" if r >= w else "#d95f0e" for r, w in zip(ratios, wanted)])
    axes.scatter(wanted, labels, marker="|", s=120, color="black", label="to reach", zorder=3)
    axes.axvline(1, color="grey", linewidth=0.8)
    axes.set_xlabel("time of the fastest peer / time of ingot")
    axes.set_title(f"{head['date']}, {head['processor'].split(' (')[0]}", fontsize=10)
    axes.legend(loc="lower right")
    figure.savefig(path, dpi=110)
