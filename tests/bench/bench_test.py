#!/usr/bin/env python3
"""The scripts behind docs/measurements still run: each with --small, and what it writes is there, whole, and as theory has it.

    bench_test.py BUILD SCRIPT

Counts and errors are looked at, times are not: a criterion that is stricter takes more interactions and errs less, trees that age
take more, and what is asked for is found.
"""
import csv
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def expect(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def run(words, cwd=None):
    interpreter = [sys.executable] if str(words[0]).endswith(".py") else []
    done = subprocess.run([*interpreter, HERE / words[0], *words[1:]], cwd=cwd, capture_output=True, text=True)
    expect(done.returncode == 0, f"{words}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def tables_of(text):
    """The tables in Markdown: lists of rows, which are dictionaries of cells by the heads of columns."""
    tables, head = [], None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            head = None
        elif head is None:
            head = cells
            expect(len(set(head)) == len(head), f"two columns of one name: {line}")
            tables.append([])
        elif set(line) <= set("|-"):
            continue
        else:
            expect(len(cells) == len(head), f"{len(head)} columns, but {line}")
            tables[-1].append(dict(zip(head, cells)))
    return tables


def number(cell):
    """The first number in it, or the sum of "cells + particles"."""
    return sum(float(part.split()[0]) for part in cell.split(" + "))


def expect_full(table, rows, but=()):
    """Nothing refused and nothing left out, but for published figures of other sizes."""
    expect(len(table) == rows, f"{rows} rows are expected, not {len(table)}")
    for row in table:
        expect(all(cell or name in but for name, cell in row.items()), f"a cell is empty: {row}")


def column(table, name):
    return [number(row[name]) for row in table]


def expect_falling(values, what):
    expect(all(a > b for a, b in zip(values, values[1:])), f"{what} should fall: {values}")


def by(table, *names):
    """Parts of a table, by the values in some of its columns."""
    parts = {}
    for row in table:
        parts.setdefault(tuple(row[name] for name in names), []).append(row)
    return parts


def expect_stricter_is_dearer(part, interactions):
    """delta falls from row to row: the same particles are audited, of errors that go with its power of 0.6 to 0.9. So a third of the
    delta is seen in the median, which scatters by a tenth."""
    expect_falling(column(part, "delta"), "delta")
    expect_falling(column(part, "error, median"), "errors")
    expect_falling([-count for count in column(part, interactions)], "the negative of interactions")


def expect_picture(printed, folder):
    expect("no matplotlib here" in printed or (folder / "figures.png").stat().st_size > 0, "figures.png is drawn where matplotlib is")


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def kd_figures(build, folder):
    printed = run(["kd_figures.sh", build / "grove", folder, "--small"])
    forces, energy = (folder / "forces.md").read_text(), (folder / "energy.md").read_text()
    expect(forces.strip() in printed and energy.strip() in printed, "what is kept is what is printed")
    expect_picture(printed, folder)
    by_alpha, at_1000, times = tables_of(forces)
    expect_full(by_alpha, 6 * 3)
    for part in by(by_alpha, "tree").values():
        expect_stricter_is_dearer(part, "interactions")
    expect_full(at_1000, 6)
    # delta_of() goes on until it is within 1 %, and the count is printed without decimals.
    expect(all(abs(count - 1000) <= 10.5 for count in column(at_1000, "interactions")), f"1000 interactions: {at_1000}")
    expect_full(times, 2 * 2, but=("HD 7950: build", "HD 7950: walk"))
    points = by(rows_of(folder / "figures.csv"), "figure", "series")
    expect(sorted(figure for figure, _ in points) == ["1"] * 3 + ["2"] * 6 + ["3"] * 6, f"curves: {list(points)}")
    for (figure, series), curve in points.items():
        if figure in "13":
            expect_falling([float(point["x"]) for point in curve], f"errors of figure {figure}, {series}")
            expect(float(curve[-1]["y"]) == 1, "all particles have larger errors than the least")
    (rules,) = tables_of(energy)
    expect_full(rules, 3)
    above, each, tuned = (number(row["renewed"]) for row in rules)
    expect(each == 40, f"renewed in each of 40 steps: {each}")
    expect(above <= tuned <= each, f"trees renewed {above}, {tuned} and {each} times")
    for rule in ("above", "each", "tuned"):
        rows = rows_of(folder / f"energy_{rule}.csv")
        expect(len(rows) == 41, f"energy_{rule}.csv has the begin and 40 steps, not {len(rows)} rows")
        # The bound of 10,000 steps holds for a few: 0.12 Myr are a ten-thousandth of the dynamical time.
        expect(max(abs(float(row["energy_error"])) for row in rows) < 1e-3, f"energy of rule {rule}")


def octree_paper(build, folder):
    expect_picture(run(["octree_paper.sh", build / "grove", folder, "--small"]), folder)
    by_number, by_angle, largest, direct = tables_of((folder / "forces.md").read_text())
    expect_full(by_number, 2)
    expect_falling(column(by_number[::-1], "interactions"), "interactions by the number of particles")
    expect_full(by_angle, 4, but=("prototype",))
    expect_falling([-theta for theta in column(by_angle, "theta")], "the negative of theta")
    expect_falling(column(by_angle, "interactions"), "interactions by theta")
    expect_falling([-error for error in column(by_angle, "error, median")], "the negative of errors by theta")
    expect_full(largest, 2, but=("published",))
    expect_full(direct, 4)
    points = by(rows_of(folder / "figures.csv"), "figure", "series")
    expect({key: len(curve) for key, curve in points.items()} == {("2", "direct sums"): 4, ("9", "direct sums"): 4, ("9", "octree"): 4}, "curves")
    expect((folder / "orders.md").exists(), "orders.md")


def trees_at_equal_error(build, work):
    printed = run(["trees_at_equal_error.py", build / "grove", "--small"])
    tables = tables_of(printed)
    expect(len(tables) == 2, "a table for each model")
    for table in tables:
        expect_full(table, len(table))
        expect({row["tree"] for row in table} >= {"bisection", "kd, vmh", "kd, vmh-tight", "kd, middle", "kd, median", "octree"}, "trees")
        expect(any("bucket 16" in row["tree"] for row in table), "larger buckets are tried")
        # Three starts, of which the second goes by a power law: not always within the 5 % that it seeks. Larger buckets are those of
        # the tree that was fastest, here of any, and the first one of them begins far off.
        for row in table:
            low, high = (0.2, 0.6) if "bucket" in row["tree"] else (0.3, 0.5)
            expect(low < number(row["99th percentile"]) < high, f"0.4 % is asked for: {row}")
    expect(printed.count("- Cheapest at 0.4 %: ") == 2, "the cheapest trees are named")
    (work / "trees.md").write_text(printed)
    again = run(["trees_at_equal_error.py", build / "grove", "--small", "--backend", "kokkos", "--rows-of", work / "trees.md", "--jobs", "2"])
    counted = ("tree", "delta", "99th percentile", "cells + particles")
    expect(
        [[row[key] for key in counted] for table in tables_of(again) for row in table]
        == [[row[key] for key in counted] for table in tables for row in table],
        "the same rows of the same trees with the same deltas",
    )


def aged_trees(build, _):
    (table,) = tables_of(run(["aged_trees.py", build / "grove", "--small"]))
    expect_full(table, 4)
    expect([(row["age"], row["type"]) for row in table] == [("0", "1"), ("0", "2"), ("7", "1"), ("7", "2")], "ages and types")
    expect(all(abs(number(row["correlation with the velocity"])) < 1 for row in table), "correlations")
    # By delta 0.001, whose percentile is 0.09 % for 50,000 particles (docs/measurements/accuracy.md); fewer have smaller ones.
    expect(all(0 < error < 0.5 for error in column(table, "error, 99th percentile")), f"errors: {table}")


def rebuilds(build, _):
    (table,) = tables_of(run(["rebuilds.py", build / "grove", "--small"]))
    expect_full(table, 3)
    tuned, fresh, aged = column(table, "10^9 interactions")
    expect(fresh < aged and tuned < aged, f"interactions of tuned, fresh and aged trees: {tuned}, {fresh}, {aged}")


def accuracy(build, _):
    (table,) = tables_of(run(["accuracy.sh", build, "--small"]))
    expect_full(table, 5 * 2 * 2)
    for row in table:
        expect(number(row["median"]) < number(row["99th percentile"]) <= number(row["largest"]), f"errors: {row}")
        # The default promises so much.
        expect(number(row["99th percentile"]) < 0.1, f"the default accuracy: {row}")


def trees(build, _):
    (table,) = tables_of(run(["trees.sh", build, "--small"]))
    expect_full(table, 7 * 3)
    for part in by(table, "tree", "rule", "leaves", "order").values():
        expect(len(part) == 3, f"three deltas: {part}")
        expect_stricter_is_dearer(part, "cells + particles")


def large_p(build, _):
    (table,) = tables_of(run(["large_p.sh", build / "grove", "--small"]))
    expect_full(table, 2)
    kinds = ("cells", "leaves", "runs", "cuts", "top_tree", "notices", "trees", "search", "exchange")
    for row, ranks in zip(table, (2, 4)):
        expect(row["ranks"] == str(ranks), f"{ranks} ranks: {row}")
        expect(sum(number(row[kind]) for kind in kinds) == number(row["all tables"]), f"the sum of the tables: {row}")
        expect(0 < number(row["messages"]) and 0 < number(row["trees of others"]) < number(row["bytes sent"]) * ranks, f"what is sent: {row}")
    _, runs = column(table, "runs")
    expect(runs > 0, "each rank knows what others own")


def cosmology(build, work):
    """The example of the published sphere, with a 64th of its sites, on two ranks, and the published one itself as far as its plan."""
    example = HERE.parents[1] / "jobs" / "examples"
    words = [example / "cosmology.sh", build / "grove", work / "sphere", "--sites", "64", "--ranks", "2"]
    done = subprocess.run(words, capture_output=True, text=True)
    expect(done.returncode == 0, f"cosmology.sh: {done.stdout}{done.stderr}")
    each, total = (float(words.split()[0]) for words in done.stdout.split("first step: ")[1].split("evaluations: "))
    particles, ranks = (int((done.stdout + done.stderr).split(f"{name}: ")[1].split(",")[0].split(";")[0]) for name in ("particles", "ranks"))
    expect((particles, ranks) == (44912, 2), f"{particles} particles on {ranks} ranks")
    expect(0 < each <= particles, f"no more interactions than particles, {particles}: {each}")
    expect(total > particles * each, f"more steps than the first: {total}")
    for name in ("panels.png", "interactions.png", "run/snapshot_003.png"):
        expect((work / "sphere" / name).stat().st_size > 0, f"no {name}")
    expect(not (work / "sphere" / "run" / "snapshot_004.hdf5").exists(), "four snapshots")
    energy = rows_of(work / "sphere" / "run" / "energy.csv")
    expect(abs(float(energy[-1]["scale_factor"]) - 1) < 1e-9, f"the run reaches today: {energy[-1]}")
    # 5.4e-4 for 2.9 million particles (docs/cosmology.md), 8.1e-4 for these. Some close pairs decide where there are few: 2e-4 to 1.2e-3 for 12 to 24 sites.
    largest = max(abs(float(row["energy_error"])) for row in energy)
    expect(largest < 3e-3, f"the balance of Layzer and Irvine is kept: {largest}")

    published = run([example / "cosmology.py", "parameters", "256", "published", work / "published"])
    (work / "published.yml").write_text(published)
    check = subprocess.run([build / "grove", "run", "--check", work / "published.yml"], capture_output=True, text=True)
    for words in ("2874528", "3584 longest ones, 29 snapshots"):
        expect(words in check.stdout, f"{words}: {check.stdout}{check.stderr}")


def first_power(file):
    """The power in the first shell of a spectrum."""
    with open(file) as lines:
        row = next(csv.DictReader(line for line in lines if not line.startswith("#")))
    return float(next(value for name, value in row.items() if name.split(" ")[0] == "power"))


def linear_growth(build, work):
    (table,) = tables_of(run(["linear_growth.py", build / "grove", work / "growth", "--small"]))
    expect_full(table, 5)
    (longest,) = (number(row["z = 9"]) for row in table[:1])
    # On a lattice of 12 sites the longest wave's rate of growth is up to 6 % less than in a continuum (Marcos et al. 2006): over a factor of
    # 5 in the scale factor its power is down to 5^-0.12 = 0.82 of it. Nothing makes it grow faster but errors of forces, 0.1 %, and steps.
    expect(0.82 < longest < 1.01, f"growth of the longest waves over that of linear theory: {longest}")

    (pair,) = tables_of(run(["linear_growth.py", build / "grove", work / "pair", "--small", "--paired"]))
    expect_full(pair, 5)
    expect([row["z = 9"] for row in pair] != [row["z = 9"] for row in table], f"the mean has another box in it: {pair}")
    (longest,) = (number(row["z = 9"]) for row in pair[:1])
    expect(0.82 < longest < 1.01, f"growth of the longest waves in both boxes: {longest}")
    # Opposite phases have the same amplitudes: their power differs by terms of third order in a density that varies by some 0.01 at z = 49.
    # Another realization's would differ by a third, since the first shell has nine pairs of modes.
    one, other = (first_power(folder / "ic_power.csv") for folder in (work / "pair", work / "pair" / "paired"))
    expect(one != other and abs(other / one - 1) < 0.03, f"power of boxes with opposite phases: {one}, {other}")


def pancake(build, work):
    printed = run(["pancake.py", build / "grove", work / "pancake", "--small"])
    (table,) = tables_of(printed)
    expect_full(table, 6, but=("v_x, largest error",))
    for row in table:
        part, off, across = (number(row[name]) for name in ("a / a_c", "v_x off the sheets, rms", "v_y, v_z, largest"))
        # Half the 99th percentile of the errors of forces, as in tests/physics/periodic_test.cpp.
        expect(0 < across < 5e-4, f"velocities across the wave: {row}")
        if part < 0.99:
            error = number(row["v_x, largest error"])
            # 0.027 for 16 sites at 0.9 of the crossing, and four times that with twice their spacing.
            expect(error < 4 * 0.027, f"Zel'dovich's solution: {row}")
            expect(off < error, f"sheets are on Zel'dovich's solution until they cross: {row}")
        elif part > 1:
            # That solution itself, which lets sheets cross freely, would be off by 0.12 at 1.25 and 0.48 at 2.
            expect(off < 0.05, f"sheets behind the crossing: {row}")
    expect("no matplotlib here" in printed or (work / "pancake" / "phase_space.png").stat().st_size > 0, "phase_space.png")


def gas_figures(build, work):
    printed = run(["gas_figures.py", build / "grove", work / "gas", "--small"])
    (table,) = tables_of((work / "gas" / "tables.md").read_text())
    expect_full(table, 22, but=("", "difference"))
    found = {row[""]: number(row["found"]) for row in table}
    known = {row[""]: number(row["known"]) for row in table}
    for name, value in found.items():
        if "largest change" in name or "largest difference" in name:
            # Steps are those of the defaults, whose bound this is, however few the particles.
            expect(value < 0.01, f"{name}: {value}")
        elif name.startswith("sod"):
            # H of so few particles is as wide as the plateaus.
            expect(abs(value / known[name] - 1) < 0.3, f"{name}: {value}, not {known[name]}")
    # The kernel reaches over three spacings, of 1/16, and shells are half of one wide.
    expect(abs(found["sedov: the densest shell at t = 0.06"] - 0.374) < 1 / 16, f"sedov: {found}")
    # A tenth of the particles of the sphere are in its middle, which is smoothed; its surface is not.
    peak, total = found["evrard: thermal energy at most"], found["evrard: total energy at first"]
    expect(0.5 * 1.76 < peak < 1.76 and abs(total + 0.617) < 0.01, f"evrard: {peak}, {total}")
    # Shells: the limits of docs/gas.md, of 100 to 5 %.
    expect(abs(known["evrard: thermal energy at most"] / 1.76 - 1) < 0.05, f"shells: {known}")
    expect(abs(known["evrard: which is at t"] - 1.065) < 0.02, f"shells: {known}")
    expect(abs(known["evrard: potential energy at least"] / -2.54 - 1) < 0.05, f"shells: {known}")
    if "no matplotlib here" not in printed:
        for name in ("sod", "sedov", "evrard"):
            expect((work / "gas" / f"{name}.png").stat().st_size > 0, f"no {name}.png")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    scripts = {f.__name__: f for f in (kd_figures, octree_paper, trees_at_equal_error, aged_trees, rebuilds, accuracy, trees, large_p, cosmology,
                                       linear_growth, pancake, gas_figures)}
    with tempfile.TemporaryDirectory() as work:
        scripts[sys.argv[2]](pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(work))


if __name__ == "__main__":
    main()
