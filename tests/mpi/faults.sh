#!/usr/bin/env bash
# A rank that throws, exits or hangs in a service or in an exchange: all ranks end within 30 s, with status 1 and a message;
# of a rank that hangs: within 30 s of what limits.hang and the predicted time allow. `all` takes some five minutes.
#
#   faults.sh quick|all GROVE FAULTY_SERVICES MPI_FAULTS MPIRUN...
#
# FAULTY_SERVICES, MPI_FAULTS: test_faulty_services and the library mpi_faults; MPIRUN: with its options, for 3 ranks.
set -uo pipefail
how=$1 grove=$2 services=$3 library=$4
shift 4
mpirun=("$@")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0 tried=0 longest=0

# Steps in which leaves change their ranks, with outputs: every exchange there is.
cat >run.yml <<END
units: {system: none}
initial_conditions: {model: plummer, n: 3000}
gravity: {softening: 0.02}
time: {end: 0.5, step: 0.05}
tuning: {rebuild_interval: 2}
output: {folder: out, render: false}
limits: {hang: 2}
END

# expect TEXT COMMAND...: ends with status 1 in time and says so.
expect() {
  local text=$1 status begin=$EPOCHREALTIME taken
  shift
  patience=30
  # 20 times what this machine took for a step while others kept it busy may be a minute.
  [[ "$*" != *hang* ]] || patience=90
  timeout --signal=KILL "$patience" "$@" >out.txt 2>&1
  status=$?
  tried=$((tried + 1))
  taken=$(((${EPOCHREALTIME/./} - ${begin/./}) / 100000)) # tenths of seconds
  [ "$taken" -le "$longest" ] || longest=$taken
  if [ "$status" -ne 1 ] || ! grep -qE -- "$text" out.txt; then
    echo "FAILED: ${*: -4}: status $status (wanted 1; 137: not within $patience s), wanted the text: $text"
    cat out.txt
    failures=$((failures + 1))
  fi
  for _ in $(seq 50); do # mpirun does not wait for those that it kills
    pgrep -f "$folder|^$services" >/dev/null || break
    sleep 0.1
  done
  if pgrep -f "$folder|^$services" >/dev/null; then
    echo "FAILED: ${*: -4}: a process is left"
    failures=$((failures + 1))
  fi
}

declare -A says=([throw]='grove: (rank 1: )?a fault on purpose' [exit]='exits on purpose')
service() { # SERVICE KIND TRANSPORT
  says[hang]="rank 1 on .*: no progress for .* in phase '$1': it is stuck there itself"
  expect "${says[$2]}" "${mpirun[@]}" "$services" "$1" "$2" "$3"
}
message() { # CALL NUMBER KIND: where the master sends its services one by one
  says[hang]='no progress for .* in phase'
  expect "${says[$3]}" "${mpirun[@]}" env LD_PRELOAD="$library" GROVE_TEST_FAULT="$1 $2 $3" "$services" none none messages
}
exchange() { # CALL NUMBER KIND [OPTION OF grove run...]
  says[hang]='no progress for .* in phase'
  rm -rf out
  expect "${says[$3]}" "${mpirun[@]}" env LD_PRELOAD="$library" GROVE_TEST_FAULT="$1 $2 $3" \
    "$grove" run "$folder/run.yml" "${@:4}"
}

if [ "$how" = quick ]; then
  service count_left throw messages
  service partition hang collectives
  exchange MPI_Isend 1 exit
  exchange MPI_Ibarrier 1 throw
  exchange MPI_Waitall 2 hang
else
  often="MPI_Bcast MPI_Reduce MPI_Iprobe MPI_Ibarrier MPI_Irecv MPI_Isend MPI_Waitall MPI_Improbe MPI_Testall MPI_Allgather \
    MPI_Allgatherv MPI_Allreduce MPI_Gather MPI_Gatherv"
  once="MPI_Barrier MPI_Mprobe" # later ones are within HDF5
  for kind in throw exit hang; do
    for transport in messages collectives; do
      for name in init make_axis count_left select_tie partition; do service "$name" "$kind" "$transport"; done
    done
    for call in $often; do exchange "$call" 3 "$kind"; done
    for call in MPI_Send MPI_Probe; do message "$call" 3 "$kind"; done
    for call in $once; do exchange "$call" 1 "$kind"; done
    # A checkpoint that throws is no fault of the run: it warns.
    [ "$kind" = throw ] || exchange fsync 2 "$kind" -P checkpoint.every="1e-9 s"
  done
fi
# A step far longer than limits.hang, in one phase, is no fault: it was predicted. Direct sums; wants some seconds each.
slow_step() {
  rm -rf out
  sed 's/n: 3000/n: 80000/; s/hang: 2/hang: 1/; s/end: 0.5/end: 0.1, steps: shared/; s/softening: 0.02/&, direct_below: 1000000/' \
    run.yml >slow.yml
  "${mpirun[@]}" "$grove" run slow.yml >out.txt 2>&1 || {
    echo "FAILED: a slow step"
    cat out.txt
    failures=$((failures + 1))
  }
  # wall_seconds is column 7.
  awk -F, 'NR > 1 && $7 > 2 { slow = 1 } END { exit !slow }' out/timing.csv ||
    echo "no step took two seconds here: nothing is shown of slow steps"
}
[ "$how" = quick ] || slow_step
echo "$tried faults, $failures failures; the longest took $((longest / 10)).$((longest % 10)) s to end"
exit $((failures > 0))
