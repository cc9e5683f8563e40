#!/bin/sh
# Proves that ./check and ./demo need nothing but a bare system and its package mirror: makes one
# with debootstrap (or copies one), clones the committed tree into it, runs ./check and ./demo there
# twice, the second time without a network, and removes it all again.
#
#     tests/root/bare.sh [-s SUITE] [-m MIRROR] [-C PARTS] [-c ROOT] [-k] [COMMAND...]
#
#     -s SUITE   Debian or Ubuntu release (default: bookworm); -m its mirror, if not the usual one
#     -C PARTS   its components, as main,universe for Ubuntu (default: main)
#     -c ROOT    copy this untouched root instead of calling debootstrap
#     -k         keep the root afterwards
#     COMMAND... what to run in the clone instead of "./check" and "./demo"
#
# By hand: needs root, a network and some 2 GB in ${TMPDIR:-/var/tmp}. Exit status: 0 when all
# passed, 1 when something failed, 77 when skipped, with the reason.
#
# Mounts are made in a mount namespace and processes run in a process namespace, which end with this
# script however it ends: nothing stays mounted or running, and what is removed holds no mounts.
set -u

place='srv/a tree' # where the clone is put; with a space, as users have them

skip() {
    echo "skipped: $*" >&2
    exit 77
}

fail() {
    echo "failed: $*" >&2
    exit 1
}

# --- Inside the namespaces: inside ROOT NETWORK COMMAND --------------------------------------------

inside() {
    root=$1 network=$2 command=$3
    mount -t proc proc "$root/proc" && mount --rbind /sys "$root/sys" &&
        mount --rbind /dev "$root/dev" || exit 1
    cp -L /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null
    set -- env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/nonexistent TERM="${TERM:-dumb}" LANG=C.UTF-8
    [ "$network" = yes ] || set -- unshare --net "$@"
    chroot "$root" "$@" sh -c "cd / && exec '/$place/'$command" </dev/null
}

if [ "${1-}" = --inside ]; then
    shift
    inside "$@"
    exit
fi

# --- Outside ----------------------------------------------------------------------------------------

suite=bookworm mirror='' components=main copy='' keep=no
while getopts s:m:C:c:k option; do
    case $option in
    s) suite=$OPTARG ;;
    m) mirror=$OPTARG ;;
    C) components=$OPTARG ;;
    c) copy=$OPTARG ;;
    k) keep=yes ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- ./check ./demo

[ "$(id -u)" -eq 0 ] || skip "needs root, for chroot"
unshare --mount --pid --fork true 2>/dev/null || skip "may not make namespaces (a container without CAP_SYS_ADMIN?)"
[ -n "$copy" ] || command -v debootstrap >/dev/null || skip "debootstrap is not installed"
command -v git >/dev/null || skip "git is not installed"

self=$(readlink -f -- "$0")
top=${self%/tests/root/*}
work=$(mktemp -d "${TMPDIR:-/var/tmp}/rwsem-bare.XXXXXX") || exit 1
root=$work/root

child=''
cleanup() {
    trap '' INT TERM HUP
    [ -z "$child" ] || kill -KILL "$child" 2>/dev/null # --kill-child ends all the others with it
    # Cannot be, since mounts are made elsewhere; but rm through a mount would be a disaster.
    if grep -q " $work/" /proc/self/mountinfo; then
        echo "something is mounted below $work: not removed" >&2
    elif [ "$keep" = yes ]; then
        echo "kept: $root" >&2
    else
        for _ in 1 2 3 4 5; do # the last of them may still be writing
            rm -rf --one-file-system -- "$work" 2>/dev/null && break
            sleep 1
        done
    fi
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Runs a command in namespaces of its own. In the background, so that a signal is seen at once.
apart() {
    setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --propagation private "$@" &
    child=$!
    wait "$child"
    _status=$?
    child=''
    return "$_status"
}

if [ -n "$copy" ]; then
    ! grep -q " $(readlink -f -- "$copy")/" /proc/self/mountinfo || fail "$copy has mounts in it"
    cp -a -- "$copy" "$root" || fail "could not copy $copy"
else
    apart debootstrap --variant=minbase --components="$components" "$suite" "$root" \
        ${mirror:+"$mirror"} >"$work/debootstrap.log" 2>&1 || {
        tail -n 5 "$work/debootstrap.log" >&2
        skip "debootstrap $suite failed (is the network there?)"
    }
fi
git -c safe.directory='*' clone --quiet --no-hardlinks "$top" "$root/$place" || exit 1
[ -z "$(git -c safe.directory='*' -C "$top" status --porcelain)" ] ||
    echo "note: what is not committed is not tested" >&2

failures=0
for network in yes no; do
    for command; do
        printf '=== %s, network: %s\n' "$command" "$network"
        apart "$self" --inside "$root" "$network" "$command"
        status=$?
        printf '=== %s, network: %s: status %s\n' "$command" "$network" "$status"
        [ "$status" -eq 0 ] || failures=$((failures + 1))
    done
done
[ "$failures" -eq 0 ] || fail "$failures of the runs above"
echo "all passed"
