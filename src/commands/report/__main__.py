"""Makes one HTML page, complete in itself, of what a run left in its output folder. `grove report` runs this.

    grove-report FOLDER OUTPUT.html

Reads energy.csv, timing.csv, rungs.csv (of Grove 0.1 timebins.csv), audit.csv, log.jsonl, used-parameters.yml, the pictures and power spectra of snapshots and, with h5py,
snapshots and catalogues of halos. A missing file leaves its part of the page out.
"""

import base64
import html
import math
import pathlib
import re
import sys

import profiles
from figures import (draw_audit, draw_energies, draw_energy_error, draw_imbalance, draw_interactions, draw_lagrange, draw_log,
                     draw_momentum, draw_phases, draw_rungs, draw_virial, figure, phase_table)
from halos import draw_mass_functions, read_mass_functions
from reading import Log, numbers, read_rungs, read_table
from spectra import draw_spectra, read_spectra

MOST_PICTURES = 12

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #222; margin: 0; background: #f6f7f9; }
main { max-width: 1120px; margin: 0 auto; padding: 24px; }
h1 { font-size: 24px; margin: 0 0 4px; } h2 { font-size: 18px; margin: 32px 0 10px; }
.sub { color: #666; margin: 0 0 18px; overflow-wrap: anywhere; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 10px; }
.tile, figure, .card { background: #fff; border: 1px solid #e2e5ea; border-radius: 6px; }
.tile { padding: 10px 14px; } .tile b { display: block; font-size: 19px; } .tile span { color: #666; font-size: 13px; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(440px, 1fr)); gap: 12px; }
figure { margin: 0; padding: 10px; } figure svg { width: 100%; height: auto; display: block; }
figcaption { color: #555; font-size: 13px; padding: 4px 4px 0; }
.pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(500px, 1fr)); gap: 12px; }
.pictures img { width: 100%; display: block; border-radius: 3px; }
.card { padding: 12px 16px; overflow-x: auto; }
table { border-collapse: collapse; } figure table { width: 100%; } td { padding: 3px 18px 3px 0; vertical-align: top; overflow-wrap: anywhere; }
td:first-child { color: #666; white-space: nowrap; } td.n { text-align: right; font-variant-numeric: tabular-nums; }
pre { font: 12.5px/1.5 ui-monospace, monospace; margin: 0; white-space: pre-wrap; }
.warn { background: #fff4e5; border-color: #f0c48a; }
@media print { body { background: #fff; } main { max-width: none; } }
"""


class Page:
    def __init__(self):
        self.parts = []

    def add(self, text):
        self.parts.append(text)

    def heading(self, text):
        self.add(f"<h2>{html.escape(text)}</h2>")

    def figures(self, figures):
        shown = [figure for figure in figures if figure]
        if shown:
            self.add('<div class="figures">' + "".join(shown) + "</div>")
        return bool(shown)

    def table(self, rows):
        cells = "".join(f"<tr><td>{html.escape(str(name))}</td><td>{html.escape(str(value))}</td></tr>"
                        for name, value in rows if value not in (None, ""))
        self.add(f'<div class="card"><table>{cells}</table></div>')


def duration(seconds):
    whole = round(seconds)
    return f"{seconds:.3g} s" if seconds < 100 else f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def tiles(page, log, energy, timing):
    last = log.starts[-1] if log.starts else {}
    entries = []
    if last:
        entries += [(f"{last['particles']:,}", "particles"), (f"{last['ranks']:,}", "ranks")]
    if timing:
        entries.append((f"{int(numbers(timing, 'step')[-1]):,}", "steps"))
    if energy:
        end = f" of {last['time_end']:g}" if last else ""
        unit = energy.units["time"]
        end += f" {unit}" if unit else ""
        entries.append((f"{numbers(energy, 'time')[-1]:g}{end}", "time reached"))
        errors = [abs(v) for v in numbers(energy, "energy_error") if math.isfinite(v)]
        # In expanding space the verdict compares all changes with the energies of the end.
        largest = log.verdict.get("energy", {}).get("largest")
        if largest is None:
            largest = max(errors, default=math.nan)
        entries.append((f"{largest:.1e}", "largest change of energy"))
    if log.seconds > 0:
        entries.append((duration(log.seconds), "on the clock"))
    if log.peak > 0:
        entries.append((f"{log.peak / 1e6:,.0f} MB", "peak memory of a rank"))
    page.add('<div class="tiles">' + "".join(f'<div class="tile"><b>{html.escape(value)}</b><span>{name}</span></div>'
                                             for value, name in entries) + "</div>")
    if log.starts and not log.is_done:
        page.add('<p class="card warn">The run has not reached its end: it goes on, was stopped, or died. '
                 "What follows is up to its last step.</p>")


def verdict(page, log):
    if not log.verdict:
        return
    lines = log.verdict.get("lines", [])
    for text in log.verdict.get("warnings", []):
        page.add(f'<p class="card warn"><b>Warning:</b> {html.escape(text)}</p>')
    page.heading("Verdict")
    page.table(line.split(": ", 1) for line in lines)


def pictures(page, folder):
    # Numbers in names are compared as numbers: 999 comes before 1000.
    files = sorted(folder.glob("snapshot_*.png"),
                   key=lambda file: [int(part) if part.isdecimal() else part for part in re.split(r"([0-9]+)", file.stem)])
    if not files:
        return
    page.heading("Pictures")
    chosen = files if len(files) <= MOST_PICTURES else [
        files[round(i * (len(files) - 1) / (MOST_PICTURES - 1))] for i in range(MOST_PICTURES)]
    if len(files) > len(chosen):
        page.add(f'<p class="sub">{len(chosen)} of {len(files)}, evenly chosen.</p>')
    page.add('<div class="pictures">' + "".join(
        f'<figure><img alt="{html.escape(file.stem)}" src="data:image/png;base64,{base64.b64encode(file.read_bytes()).decode()}">'
        f"<figcaption>{html.escape(file.stem)}</figcaption></figure>" for file in chosen) + "</div>")


def last_snapshot(page, folder, length):
    """length: the unit of the run's tables, in which the profiles are, too."""
    if not profiles.last_files(folder):
        return
    page.heading("The last snapshot")
    try:
        snapshot = profiles.read_snapshot(folder, length)
    except ImportError:
        page.add('<p class="sub">Its rotation curve and its density profile are left out: reading snapshots needs h5py for Python '
                 "(Debian: python3-h5py; or: pip install h5py).</p>")
        return
    found = snapshot and snapshot.types and profiles.Profiles(snapshot)
    if not found or not page.figures([
            figure(profiles.draw_rotation(found), f"{snapshot.name}: circular velocity sqrt(G M(<r) / r) about the densest place, of "
                   "all matter and of each type by itself."),
            figure(profiles.draw_density(found), f"{snapshot.name}: mean density in spherical shells, by type."),
            figure(profiles.draw_internal_energy(found), f"{snapshot.name}: mean internal energy of gas per mass in the same shells."),
    ]):
        page.add('<p class="sub">It has too few particles with mass for profiles, or lacks positions, velocities or masses.</p>')


def environment(page, log):
    if not log.starts:
        return
    page.heading("Environment")
    for start in log.starts:
        hosts = ", ".join(f"{host} ({ranks} rank{'s' if ranks > 1 else ''})" for host, ranks in start["hosts"].items())
        page.table([
            ("started", start["started"]), ("Grove", f"{start['version']}, commit {start['commit']}, {start['build_type']}"),
            ("compiler", start["compiler"]), ("CUDA", start["cuda"]), ("instruction set", start["instruction_set"]),
            ("MPI", start["mpi"]), ("hosts", hosts), ("processor", start["processor"]),
            ("GPUs", start["devices"].strip() or "none used"), ("leaves", f"{start['leaves']:,}")])


def make_page(folder):
    energy, timing, audit = (read_table(folder / f"{name}.csv") for name in ("energy", "timing", "audit"))
    rungs = read_rungs(folder)
    log = Log(folder / "log.jsonl")
    page = Page()
    page.add(f"<h1>{html.escape(folder.name)}</h1><p class='sub'>A run of Grove in {html.escape(str(folder))}</p>")
    tiles(page, log, energy, timing)
    verdict(page, log)
    pictures(page, folder)
    page.heading("Energy and momentum")
    page.figures([
        figure(draw_energy_error(energy), "The balance of Layzer and Irvine: its change, relative to what linear theory makes of it until the end."
               if "scale_factor" in energy else "How far the total energy is from its begin, relative to it."),
        figure(draw_energies(energy), "Energies at the ends of the longest steps."),
        figure(draw_momentum(energy, log.verdict), "Momentum and angular momentum, which external potentials change."
               if any(numbers(energy, "external")) else "Conserved quantities: their errors."),
        figure(draw_audit(audit), "Forces of a sample against direct summation."),
    ])
    page.heading("Structure")
    page.figures([
        figure(draw_lagrange(energy), "Lagrange radii: of the spheres about the densest point that hold 10, 50 and 90 % of the mass."),
        figure(draw_virial(energy), "1 is equilibrium."),
    ])
    if spectra := figure(draw_spectra(read_spectra(folder)), "The power spectrum of the density at outputs, with the shot noise in it; "
                         "shaded is the standard deviation of a Gaussian field.", size=(6.2, 3.6)):
        page.heading("Power spectra")
        page.figures([spectra])
    if masses := figure(draw_mass_functions(read_mass_functions(folder)), "The mass function of the halos that were found at outputs: how many "
                        "have a mass or more, in a periodic box per volume.", size=(6.2, 3.6)):
        page.heading("Halos")
        page.figures([masses])
    last_snapshot(page, folder, energy.units.get("lagrange_50"))
    parameters = folder / "used-parameters.yml"
    if parameters.is_file():
        page.heading("Parameters")
        page.add(f'<div class="card"><pre>{html.escape(parameters.read_text(errors="replace"))}</pre></div>')
    environment(page, log)
    page.heading("Time on the clock")
    page.figures([
        figure(draw_phases(timing), "Phases of the steps, each on its slowest rank, without audits, output and checkpoints; means of neighbouring steps.",
               size=(6.2, 3.3)),
        phase_table(timing),
        figure(draw_interactions(timing), "How much each particle that gets a force interacts with."),
        figure(draw_imbalance(timing), "How evenly ranks share the walk."),
        figure(draw_log(log, [("in use", ("memory", "host")), ("peak", ("memory", "host_peak")),
                              ("peak of a GPU", ("memory", "device_peak"))], "megabytes", 1e-6),
               "Memory of the rank that has most."),
        figure(draw_log(log, [("all", ("bytes", "sent")), ("trees", ("bytes", "trees"))], "megabytes per step", 1e-6),
               "What ranks send each other."),
    ])
    by_rung = [
        figure(draw_rungs(rungs, "particles", "particles"), "Particles by rung: a step of rung k is the longest over 2^k."),
        figure(draw_rungs(rungs, "cost_share", "share of interactions"), "What the rungs cost."),
    ]
    if any(by_rung):
        page.heading("Time steps of particles")
        page.figures(by_rung)
    body = "\n".join(page.parts)
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>{html.escape(folder.name)}: a run of Grove</title><style>{STYLE}</style></head>\n"
            f"<body><main>\n{body}\n</main></body></html>\n")


def main():
    folder, output = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    output.write_text(make_page(folder.resolve()), encoding="utf-8")


if __name__ == "__main__":
    main()
