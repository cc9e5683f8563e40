#!/bin/sh
# Makes a man page: manpage.sh SCDOC SOURCE PAGE [OPTDOC COMMAND]
# A line @OPTIONS@ of the source gives way to what `OPTDOC COMMAND` prints.
set -eu
scdoc=$1 source=$2 page=$3
shift 3

whole=$page.scd
if [ $# -gt 0 ]; then
    "$@" >"$page.options"
    [ -s "$page.options" ] || { echo "$1 printed no options" >&2 && exit 1; }
    sed -e "/^@OPTIONS@\$/{r $page.options" -e 'd;}' "$source" >"$whole"
else
    cp -- "$source" "$whole"
fi
if grep -n '^@OPTIONS@' "$whole" >&2; then
    echo "$source: no option table was given" >&2
    exit 1
fi
"$scdoc" <"$whole" >"$page.new"
mv -- "$page.new" "$page"
