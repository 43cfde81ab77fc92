#!/usr/bin/env bash
# `grove movie`: hands all pictures to ffmpeg in their order, and says what is missing. ffmpeg itself is not needed: a script in
# its place tells what it was asked for.
#
#   movie.sh GROVE
set -uo pipefail
# shellcheck source=tests/support/command_test.sh
. "$(dirname "$0")/../support/command_test.sh"

mkdir bin "the run"
cat >bin/ffmpeg <<'EOF'
#!/bin/bash
[ "$1" = -version ] && exit "${MISSING:-0}"
printf '%s\n' "$@" >"$TOLD"
film=${*: -1}
while [ "$1" != -i ]; do shift; done
for ((i = 0; ; ++i)); do
  picture=${2/\%06d/$(printf %06d $i)}
  picture=${picture//\%\%/\%}
  [ -e "$picture" ] || break
  basename "$(readlink -f "$picture")"
done >"$film"
exit "${STATUS:-0}"
EOF
chmod +x bin/ffmpeg
export TOLD=$folder/told

"$grove" ic plummer -n 100 -o "the run/snapshot_998.hdf5" >/dev/null || exit 1
"$grove" render "the run/snapshot_998.hdf5" --size 16 >/dev/null || exit 1
for number in 999 1000 0007; do cp "the run/snapshot_998.png" "the run/snapshot_$number.png"; done
cp "the run/snapshot_998.png" "the run/another.png"

film() { PATH=$folder/bin:$PATH "$grove" movie "$@"; }
film "the run" >out || fail "no film"
[ "$(cat out)" = "the run/movie.mp4: 4 pictures, 0.333333 s" ] || fail "said $(cat out)"
[ "$(tr '\n' ' ' <"the run/movie.mp4")" = "snapshot_0007.png snapshot_998.png snapshot_999.png snapshot_1000.png " ] ||
  fail "made of $(cat "the run/movie.mp4")"
grep -qx yuv420p told || fail "a film that few players show"
film "the run" -o other.gif --rate 4 >out || fail "no other film"
grep -qx 4 told || fail "not at the rate asked for"
[ -s other.gif ] || fail "not where it was asked for"

cp -r "the run" "50% done"
film "50% done" >out || fail "no film in a folder with % in its name"
grep -q '^50%% done/.*/picture_%06d.png$' told || fail "ffmpeg takes a % for a number: $(cat told)"
[ "$(wc -l <"50% done/movie.mp4")" -eq 4 ] || fail "made of $(cat "50% done/movie.mp4")"

MISSING=127 refused 2 'install it' film "the run"
refused 2 'is no folder' film nowhere
refused 2 'names its format' film "the run" -o film
refused 2 'is the input too' film "the run" -o "the run/snapshot_999.png"
mkdir empty
refused 2 'grove render empty/snapshot_*.hdf5' film empty
"$grove" render "the run/snapshot_998.hdf5" --size 32 -o "the run/snapshot_001.png" >/dev/null || fail "no picture of another size"
refused 2 'needs one size' film "the run"
rm "the run/snapshot_001.png"
STATUS=3 refused 1 'status 3' film "the run" -o broken.mp4
[ -e broken.mp4 ] && fail "half a film is left"
[ "$(find . -name '*.mp4.*' | wc -l)" -eq 0 ] || fail "left over: $(ls -a . "the run")"
exit $((failures > 0))
