#!/usr/bin/env bash
# `grove report`: one page with all parts, complete in itself, of a run that is done, of one that died, and of an old one that
# did not begin.
#
#   report.sh GROVE
set -uo pipefail
support=$(realpath "$(dirname "$0")/../support")
# shellcheck source=tests/support/command_test.sh
. "$(dirname "$0")/../support/command_test.sh"

cat >run.yml <<EOF
units: {system: none}
initial_conditions: {model: plummer, n: 1000}
gravity: {softening: 0.001}
time: {end: 0.2, step: 0.05}
output: {folder: "a & b", every: 0.1}
audit: {every: 2, particles: 50}
EOF
"$grove" run run.yml 2>err || { cat err; exit 1; }

# has PAGE TEXT...
has() {
  local page=$1 text
  shift
  for text in "$@"; do grep -qF -- "$text" "$page" || fail "$page: no '$text'"; done
}

"$grove" report 'a & b' >out || fail "no report"
page='a & b/report.html'
[ "$(cat out)" = "$page" ] || fail "said $(cat out)"
has "$page" '<h1>a &amp; b</h1>' '<b>1,000</b>' '<b>0.2 of 0.2</b>' 'data:image/png;base64,' 'snapshot_002' 'model: plummer' \
  'commit' 'Verdict' 'largest |dE/E|' 'Lagrange radii' 'total energy is from its begin' 'Energies at the ends' 'Conserved quantities' 'Forces of a sample' \
  'Phases of the steps' 'circular velocity' 'spherical shells' 'interacts with' 'Memory of the rank' 'Particles by rung' 'What the rungs cost'
# One rank sends nothing and is in balance: these are all figures that there are.
[ "$(grep -c '<svg' "$page")" -eq 13 ] || fail "$(grep -c '<svg' "$page") figures"
grep -qE '(src|href)="[^#d]' "$page" && fail "needs other files"
grep -qF 'has not reached its end' "$page" && fail "the run was done"

# A sphere begins without angular momentum: changes are compared with what it could have.
has "$page" '<!-- change of angular momentum / sum of m |r| |v| -->' '<!-- virial ratio'

# In the units that were typed; a virial ratio of the particles alone says nothing in an external potential.
cat >cluster.yml <<EOF
initial_conditions: {model: plummer, n: 500, mass: 1e4 Msun, scale: 5 pc}
gravity: {softening: 1 pc}
potentials: [{type: plummer, mass: 1e5 Msun, scale: 50 pc}]
time: {end: 2 Myr, step: 1 Myr}
output: {folder: cluster, every: 1 Myr, render: false}
EOF
"$grove" run --quiet cluster.yml >out 2>err || fail "cluster: $(cat err)"
"$grove" report cluster >out || fail "no report of a cluster"
has cluster/report.html '<!-- radius [pc] -->' '<!-- density [Msun/pc³] -->' '<!-- energy [Msun (km/s)²] -->'
grep -qF 'virial ratio' cluster/report.html && fail "a virial ratio in an external potential"

# The power spectra of a periodic box.
cat >box.yml <<EOF
initial_conditions: {model: cosmological-box, sites: 8, box_size: 50 Mpc}
cosmology: {preset: eds}
box: {periodic: true}
gravity: {softening: 1 Mpc, direct_below: 1000}
time: {begin: z=9, end: z=8, step_ln_a: 0.05}
output: {folder: box, times: ["z=9", "z=8"], render: false, power: true}
EOF
"$grove" run --quiet box.yml 2>err || fail "box: $(cat err)"
"$grove" report box >out || fail "no report of a box"
has box/report.html '<!-- power [(Mpc/h)³] -->' '<!-- wavenumber [h/Mpc] -->' '<!-- z = 9 -->' '<!-- z = 8 -->' '<!-- shot noise -->'

# Its profiles are physical, and a halo over a corner of the box has those that it has elsewhere.
PATH=/usr/bin:$PATH PYTHONPATH=$support/../../src/commands/report python3 "$support/box_profiles.py" box || fail "profiles in a box"

# Gas: its energy in shells, and in its units.
cat >gas.yml <<EOF
initial_conditions: {model: evrard, n: 500, mass: 1e10 Msun, scale: 1 kpc}
gravity: {softening: 50 pc}
time: {end: 1 Myr, step: 1 Myr}
output: {folder: gas, every: 1 Myr, render: false}
EOF
"$grove" run --quiet gas.yml 2>err || fail "gas: $(cat err)"
"$grove" report gas >out || fail "no report of gas"
has gas/report.html '<!-- internal energy per mass [(km/s)²] -->' 'mean internal energy of gas' '<!-- type 0 (gas) -->'
grep -qF 'internal energy' 'a & b/report.html' && fail "an internal energy without gas"
PATH=/usr/bin:$PATH PYTHONPATH=$support/../../src/commands/report python3 "$support/gas_profiles.py" gas || fail "profiles of gas"

# Two clumps in open space, with bare numbers: two halos at each output.
cat >halos.yml <<EOF
units: {system: none}
initial_conditions:
  components: [{model: uniform-sphere, n: 300, scale: 1}, {model: uniform-sphere, n: 60, scale: 1, position: [50, 0, 0]}]
gravity: {softening: 0.1}
time: {end: 0.01, step: 0.01}
output: {folder: halos, every: 0.01, render: false, fof: true, fof_length: 0.7}
EOF
"$grove" run --quiet halos.yml 2>err || fail "halos: $(cat err)"
"$grove" report halos >out || fail "no report of halos"
has halos/report.html '<h2>Halos</h2>' '<!-- mass of a halo -->' '<!-- halos of that mass or more -->' '<!-- fof_tab_000, 2 halos -->' \
  '<!-- fof_tab_001, 2 halos -->'
# A catalogue that is half written is left out.
truncate -s 3000 halos/fof_tab_001.hdf5
"$grove" report halos >out || fail "no report with a torn catalogue"
has halos/report.html '<!-- fof_tab_000, 2 halos -->'
grep -qF 'fof_tab_001, ' halos/report.html && fail "halos of a torn catalogue"

# The names of Grove 0.1.
cp -r 'a & b' older
mv older/rungs.csv older/timebins.csv
sed -i '1s/,rung,/,level,/' older/timebins.csv older/timing.csv older/audit.csv
"$grove" report older >out || fail "no report of an older run"
has older/report.html 'What the rungs cost' 'Phases of the steps'

# Killed while it wrote: the last lines are torn, and there is no end.
cp -r 'a & b' killed
for file in killed/energy.csv killed/timing.csv killed/rungs.csv; do truncate -s -5 "$file"; done
sed -i '/"event":"end"/d' killed/log.jsonl
truncate -s -5 killed/log.jsonl
"$grove" report killed -o killed.html >out || fail "no report of a killed run"
has killed.html 'has not reached its end' 'Phases of the steps' 'commit'

# Killed in its first step: no row is whole.
cp -r 'a & b' first
for file in first/*.csv; do
  { head -n 1 "$file"; sed -n 2p "$file" | cut -c -20 | tr -d '\n'; } >rows && mv rows "$file"
done
"$grove" report first >out || fail "no report of a run without a whole row"

# Two hours in a first part, which ended; 30 minutes in another one, which was killed.
cp -r 'a & b' resumed
{
  sed '$d; s/"run_seconds":[0-9.e+-]*/"run_seconds":7200/' 'a & b/log.jsonl'
  echo '{"event":"end","run_seconds":7200.0,"memory":{"host_peak":1e9,"device_peak":0.0}}'
  head -n 1 'a & b/log.jsonl'
  sed -n '3s/"run_seconds":[0-9.e+-]*/"run_seconds":1800/p' 'a & b/log.jsonl'
} >resumed/log.jsonl
cp resumed/snapshot_000.png 'resumed/snapshot_<i>"x.png'
"$grove" report resumed >out || fail "no report of a resumed run"
has resumed/report.html 'has not reached its end' '<b>2:30:00</b>' '<b>1,000 MB</b>' 'alt="snapshot_&lt;i&gt;&quot;x"' \
  '>snapshot_&lt;i&gt;&quot;x<'

# A long run: curves are thinned while they are read, and reach its last step.
mkdir long
head -n 1 'a & b/timing.csv' >long/timing.csv
awk 'BEGIN { for (i = 1; i <= 20000; ++i)
  printf "{\"event\":\"step\",\"step\":%d,\"run_seconds\":%d,\"bytes\":{\"sent\":%d,\"trees\":1}}\n", i, i, i }' >long/log.jsonl
"$grove" report long >out || fail "no report of a long run"
has long/report.html '<b>5:33:20</b>'
[ "$(wc -c <long/report.html)" -lt 400000 ] || fail "$(wc -c <long/report.html) bytes of a long run"

# The last snapshot is half written; the rest of the page is there.
cp -r 'a & b' torn
truncate -s 3000 torn/snapshot_002.hdf5
"$grove" report torn >out || fail "no report with a torn snapshot"
has torn/report.html 'too few particles with mass' 'Phases of the steps'
# Without h5py it says so: a module of that name that is none.
mkdir none && echo 'raise ImportError' >none/h5py.py
PYTHONPATH=$folder/none "$grove" report 'a & b' -o plain.html >out || fail "no report without h5py"
has plain.html 'python3-h5py' 'Energies at the ends'

# Test particles alone make no curves. Numbers of snapshots are in their order, beyond three digits too.
cat >tracers.yml <<EOF
units: {system: none}
initial_conditions: {file: massless.hdf5, tracer: 1}
gravity: {softening: 0.1}
potentials: [{type: plummer, mass: 1, scale: 1}]
time: {end: 0.2, step: 0.1}
output: {folder: tracers, every: 0.2}
EOF
cp 'a & b/snapshot_000.hdf5' massless.hdf5
PATH=/usr/bin:$PATH python3 -c 'import h5py
with h5py.File("massless.hdf5", "r+") as file: file["PartType1/Masses"][:] = 0' || fail "no massless particles"
"$grove" run tracers.yml 2>err || fail "no run of test particles: $(cat err)"
cp tracers/snapshot_000.png tracers/snapshot_1000.png
cp tracers/snapshot_001.png tracers/snapshot_999.png
"$grove" report tracers >out || fail "no report of test particles"
has tracers/report.html 'too few particles with mass' 'Phases of the steps'
[ "$(grep -o '<figcaption>snapshot_[0-9]*' tracers/report.html | tail -n 1)" = '<figcaption>snapshot_1000' ] || fail "pictures out of order"

# A link is followed, what is no file is not replaced.
ln -s linked.html link.html
"$grove" report 'a & b' -o link.html >out || fail "no report through a link"
[ -L link.html ] || fail "the link was replaced"
[ -f linked.html ] || fail "the link was not followed"

# A run by an older version that had not made a step.
cp -r 'a & b' old
rm old/log.jsonl old/*.png old/used-parameters.yml
for file in old/*.csv; do head -n 1 "$file" >header && mv header "$file"; done
"$grove" report old >out || fail "no report of empty tables"

mkdir empty
refused 2 'no timing.csv' "$grove" report empty
refused 2 'does not exist' "$grove" report old -o nowhere/page.html
mkfifo pipe
refused 2 'pipe' "$grove" report old -o pipe
[ -p pipe ] || fail "the pipe was replaced"
ls ./*.tmp 2>/dev/null && fail "temporary files are left"
refused 2 'python3-matplotlib' env PYTHONHOME=/nowhere "$grove" report old
exit $((failures > 0))
