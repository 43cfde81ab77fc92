# shellcheck shell=bash
# Sourced by tests of commands, behind `set -u`, with the program as the first argument: an empty folder that is removed at the
# end, and counts of failures. They end with `exit $((failures > 0))`.
export grove
grove=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0
fail() {
  echo "FAILED: $*"
  [ ! -s err ] || tail -n 5 err
  failures=$((failures + 1))
}

# refused STATUS TEXT COMMAND...
refused() {
  local status=$1 text=$2
  shift 2
  "$@" >out 2>err
  [ $? -eq "$status" ] || fail "status of $*"
  grep -qF -- "$text" err || fail "no '$text' of $*: $(cat err)"
}
