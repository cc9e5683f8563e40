#!/bin/sh
# Makes a man page: manpage.sh SCDOC SOURCE PAGE [WORD PROGRAM ARGUMENT]...
# A line @WORD@ of the source gives way to what `PROGRAM ARGUMENT` prints.
set -eu
scdoc=$1 source=$2 page=$3
shift 3

whole=$page.scd
cp -- "$source" "$whole"
while [ $# -gt 0 ]; do
    part=$page.$1
    "$2" "$3" >"$part"
    [ -s "$part" ] || { echo "$2 $3 printed nothing" >&2 && exit 1; }
    grep -q "^@$1@\$" "$whole" || { echo "$source: no line @$1@" >&2 && exit 1; }
    sed -e "/^@$1@\$/{r $part" -e 'd;}' "$whole" >"$whole.new"
    mv -- "$whole.new" "$whole"
    shift 3
done
if grep -n '^@[A-Z]*@' "$whole" >&2; then
    echo "$source: nothing was given for that line" >&2
    exit 1
fi
"$scdoc" <"$whole" >"$page.new"
mv -- "$page.new" "$page"
