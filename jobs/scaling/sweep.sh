# Sourced by strong.sh and weak.sh: runs `grove force` on each number of ranks, then the table and the pictures.
# shellcheck shell=bash
# shellcheck source=jobs/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

# The comment at the head of the script is its help.
help() { awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"; }
case ${1:-} in
  "") only_plots=0 ;;
  --plots) only_plots=1 ;;
  --help) help; exit 0 ;;
  *) help; exit 2 ;;
esac

GROVE=${GROVE:-build/grove}
MODEL=${MODEL:-plummer}
REPEAT=${REPEAT:-5}
PLOTS=${PLOTS:-1}
RANKS=${RANKS:-1 2 4 8}
read -ra launch <<<"${LAUNCH:-mpirun --oversubscribe -n}"
read -ra options <<<"${OPTIONS:-}"
failed="" # numbers of ranks

# initial_conditions N: a snapshot of so many particles, made once; its path.
initial_conditions() {
  local file=$OUT/$MODEL-$1.hdf5
  [ -s "$file" ] || "$GROVE" ic "$MODEL" -n "$1" --seed 1 -o "$file" >&2
  echo "$file"
}

# same_settings PARTICLES: ends the sweep if the runs that are there are of other particles or OPTIONS; REDO=1 removes these.
same_settings() {
  local file=$OUT/runs/settings
  local part=$file.$HOSTNAME.$$ # tasks of an array do this at once
  printf 'particles: %s\noptions: %s\n' "$1" "${options[*]:-none}" >"$part"
  if ! cmp -s "$part" "$file" && compgen -G "$OUT/runs/*.json" >/dev/null; then
    if [ "${REDO:-0}" != 1 ]; then
      echo "$OUT holds runs of other settings (<) than these (>): give another OUT, or REDO=1 to replace them" >&2
      diff <(cat "$file" 2>/dev/null || echo "not recorded") "$part" | grep '^[<>]' >&2 || true # diff has found a difference
      rm "$part"
      exit 2
    fi
    rm -f "$OUT"/runs/*.json
  fi
  mv "$part" "$file"
}

# measure RANKS SNAPSHOT: one run, unless it is there already.
measure() {
  local json=$OUT/runs/$1.json
  if [ -s "$json" ] && [ "${REDO:-0}" != 1 ]; then
    echo "$json is there"
    return
  fi
  echo "$1 ranks"
  # A run that fails leaves no file, and the sweep goes on.
  "${launch[@]}" "$1" "$GROVE" force "$2" --audit 0 --repeat "$REPEAT" "${options[@]}" --json "$json.part" >"$OUT/runs/$1.txt" ||
    { echo "$1 ranks failed" >&2; failed+=" $1"; return; }
  mv "$json.part" "$json"
}

# finish strong|weak: status 1 if a run has failed.
finish() {
  if [ "$PLOTS" = 1 ] || [ "$only_plots" = 1 ]; then
    local python
    python=$(jobs/python-with.sh matplotlib)
    "$python" jobs/scaling/tables.py "$1" "$OUT"
    "$python" jobs/scaling/plots.py "$1" "$OUT"
  fi
  [ -z "$failed" ] || { echo "failed, numbers of ranks:$failed" >&2; return 1; }
}
mkdir -p "$OUT/runs"
