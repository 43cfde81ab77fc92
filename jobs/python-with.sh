#!/usr/bin/env bash
# Prints the first python3 that has some modules: PYTHON if it is set, else that of the user, else the system's, which one of the user's
# own may hide.
#
#   python-with.sh MODULE...
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,5p' "$0"; exit 2; }
for python in ${PYTHON:-python3 /usr/bin/python3}; do
  if "$python" -c "import $(IFS=,; echo "$*")" 2>/dev/null; then
    echo "$python"
    exit
  fi
done
echo "no python3 has $*: install what is missing (Debian: ${*/#/python3-}) or name one that has them, PYTHON=..." >&2
exit 1
