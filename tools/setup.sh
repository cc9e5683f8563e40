# shellcheck shell=sh
# What ./demo and ./check share: find out what this machine lacks, install it, configure and build.
# Sourced, never run. The caller sets `top` (the checkout, absolute) and may call, in this order:
#
#     install_missing "$needs"     exits 3 where something is missing and cannot be installed
#     choose_build_dir             sets `build`
#     configure DIR [OPTION...]    brings any state of DIR to a configured one; exits 1 if it can't
#     compile DIR                  returns 1 after printing what the compiler said
#
# All messages go to stderr. Plain POSIX sh: runs under dash and busybox.

say() {
    printf '%s\n' "$*" >&2
}

# die STATUS MESSAGE...
die() {
    _status=$1
    shift
    say "$0: $*"
    exit "$_status"
}

# --- What is here -------------------------------------------------------------------------------

has_command() {
    for _command; do
        command -v "$_command" >/dev/null 2>&1 && return 0
    done
    return 1
}

# has_module NAME [VERSION]: a library with its pkg-config file
has_module() {
    has_command pkg-config && pkg-config --exists "$1${2:+ >= $2}"
}

# has_header HEADER: one that gcc finds
has_header() {
    has_command gcc && printf '#include <%s>\n' "$1" | gcc -E - >/dev/null 2>&1
}

has_python_module() {
    has_command python3 && python3 -c "import $1" 2>/dev/null
}

# The layout of code depends on clang-format's version; 14 is the one this tree is laid out by.
clang_format_14() {
    for _command in clang-format-14 clang-format; do
        case $("$_command" --version 2>/dev/null) in
        *"version 14."*) printf '%s\n' "$_command" && return 0 ;;
        esac
    done
    return 1
}

has_clang_format_14() {
    clang_format_14 >/dev/null
}

has_meson() {
    _version=$(meson --version 2>/dev/null) || return 1
    _major=${_version%%.*}
    _minor=${_version#*.}
    _minor=${_minor%%.*}
    [ "$_major" -gt 0 ] || [ "$_minor" -ge 61 ]
}

# --- What is needed -----------------------------------------------------------------------------
# A line a package: Debian's name | how to see that it is here | what for.
# A `?` in front: done without, if it can't be had.

# shellcheck disable=SC2034 # used by the scripts that source this
needs_build='
gcc|has_command gcc|the compiler
libc6-dev|has_header stdio.h|headers of the C library
meson|has_meson|configures the build (0.61 or later)
ninja-build|has_command ninja ninja-build samu|runs the build
pkg-config|has_command pkg-config|finds libraries
libjansson-dev|has_module jansson 2.10|reads and writes JSON records
?zlib1g-dev|has_module zlib|reads the kernel configuration into records
?libnsync-dev|has_header nsync.h|a lock to compare with
?libck-dev|has_header ck_pflock.h|locks to compare with
'
# shellcheck disable=SC2034
needs_tests='
libcmocka-dev|has_module cmocka|unit tests in C
python3|has_command python3|tests of the command line, and counting
python3-jsonschema|has_python_module jsonschema|checks records against their schema
scdoc|has_command scdoc|builds the man pages
?g++|has_command g++|tests the C++ face of the library, and builds C++ locks to compare with
?spin|has_command spin|checks the model of sleeping and waking
'
# shellcheck disable=SC2034
needs_ci='
?git|has_command git|tells which files belong to the tree
?clang|has_command clang|the second compiler
?clang-format-14|has_clang_format_14|checks the layout of the code
?shellcheck|has_command shellcheck|checks the shell scripts
?man-db|has_command man|checks the man pages
?busybox|has_command busybox|its shell is one that the scripts have to run under
?mandoc|has_command mandoc|checks the man pages
?systemtap-sdt-dev|has_header sys/sdt.h|probes of the library for tracers
?cargo|has_command cargo|builds the locks of Rust to compare with
?librust-parking-lot-dev|test -e /usr/share/doc/librust-parking-lot-dev|a lock to compare with
?libabsl-dev|has_module absl_synchronization|a lock to compare with
?libtbb-dev|has_module tbb|locks to compare with
?libboost-thread-dev|has_header boost/thread/shared_mutex.hpp|a lock to compare with
?valgrind|has_header valgrind/helgrind.h|race checkers that the library tells what it does
?gcc-aarch64-linux-gnu|has_command aarch64-linux-gnu-gcc|the library on the other processor
?libc6-dev-arm64-cross|test -e /usr/aarch64-linux-gnu/include/stdio.h|headers for that
?gdb|has_command gdb|tests the printers for it
?qemu-user|has_command qemu-aarch64|runs what was built for it
'

# Sets missing and wished (package names), reasons and wishes (a line each) from the list $1.
list_missing() {
    missing='' reasons='' wished='' wishes=''
    while IFS='|' read -r _package _probe _why; do
        [ -n "$_package" ] || continue
        # shellcheck disable=SC2086 # the probe is a command and its arguments
        $_probe && continue
        case $_package in
        '?'*)
            wished="$wished ${_package#?}"
            wishes="$wishes
  ${_package#?} - $_why"
            ;;
        *)
            missing="$missing $_package"
            reasons="$reasons
  $_package - $_why"
            ;;
        esac
    done <<EOF
$1
EOF
}

# --- Installing ---------------------------------------------------------------------------------

has_candidate() {
    case $(LC_ALL=C apt-cache policy "$1" 2>/dev/null) in
    '' | *'Candidate: (none)'*) return 1 ;;
    esac
}

# Sets as_root to what must stand before a command to run it as root; 1 if nothing will do.
choose_root() {
    as_root=''
    [ "$(id -u)" -eq 0 ] && return 0
    has_command sudo || return 1
    as_root=sudo
    # Without a terminal nobody can be asked for a password.
    [ -t 0 ] || sudo -n true 2>/dev/null
}

# Runs apt-get; apt_said is what it printed.
apt() {
    # shellcheck disable=SC2086 # as_root is a word or nothing
    apt_said=$($as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -q -y \
        -o DPkg::Lock::Timeout=300 -o Acquire::Retries=2 -o APT::Update::Error-Mode=any \
        "$@" </dev/null 2>&1)
}

# apt_install PACKAGE...: with the package lists as they are, and with fresh ones if that fails.
apt_install() {
    for _package; do
        if ! has_candidate "$_package"; then
            refresh_lists
            break
        fi
    done
    apt install --no-install-recommends "$@" && return 0
    [ "$are_lists_fresh" = no ] || return 1
    refresh_lists
    apt install --no-install-recommends "$@"
}

are_lists_fresh=no
refresh_lists() {
    are_lists_fresh=yes
    say "Fetching the package lists (apt-get update)"
    # One broken mirror among several need not matter: what counts is whether installing works.
    apt update || say "  apt-get update had errors; going on with what there is"
}

# Installs what of the list $1 is missing. Asks apt only if something is.
install_missing() {
    list_missing "$1"
    [ -n "$missing$wished" ] || return 0
    _by_hand="apt-get install --no-install-recommends$missing"
    if ! has_command apt-get || ! has_command dpkg-query; then
        [ -n "$missing" ] || return 0
        die 3 "missing (Debian's names):$reasons
This is no Debian or Ubuntu, so please install them with your own package manager, and run $0 again."
    fi
    if ! choose_root; then
        [ -n "$missing" ] || return 0
        die 3 "missing:$reasons
Only root can install them, and sudo is not there or wants a password. Please run as root:
  apt-get update && $_by_hand
and then $0 again."
    fi
    if [ -n "$missing" ]; then
        install_required "$1"
    fi
    install_wished
}

install_required() {
    say "Missing here, so to be installed with apt-get${as_root:+ through sudo}:$reasons"
    # shellcheck disable=SC2086 # a list of names
    if ! apt_install $missing; then
        say "$apt_said"
        die 3 "could not install$missing (see above).
Is the network there? On Ubuntu, is the component universe enabled? By hand, as root:
  apt-get update && $_by_hand"
    fi
    list_missing "$1"
    [ -z "$missing" ] || die 3 "installed, but still not found or too old:$missing
This release may be older than Debian 12 or Ubuntu 22.04, or something else comes first in PATH."
}

# What can be done without: never fails, never fetches package lists on its own.
install_wished() {
    _offered=''
    for _package in $wished; do
        has_candidate "$_package" && _offered="$_offered $_package"
    done
    [ -n "$_offered" ] || return 0
    say "Missing too, though it can be done without:$wishes"
    # shellcheck disable=SC2086 # a list of names
    apt install --no-install-recommends $_offered ||
        say "  could not install them; going on without"
}

# --- Building -----------------------------------------------------------------------------------

# build/ in the checkout; another name beside it where build/ belongs to someone else.
choose_build_dir() {
    build=${top:?}/build
    if [ -e "$build" ] && ! [ -w "$build" ]; then
        build=$top/build-$(id -un 2>/dev/null || id -u)
    fi
    [ -w "$top" ] || [ -w "$build" ] ||
        die 1 "can't write in $top: copy it to a folder of yours, and run it from there"
}

meson_setup() {
    meson_said=$(meson setup "$@" 2>&1 </dev/null)
}

# Whether DIR was configured for this path, by this meson, and (if any are given) with OPTIONs.
is_configured() {
    _stamp=$1/.configured-as
    [ -f "$1/build.ninja" ] && [ -f "$_stamp" ] || return 1
    { read -r _path && read -r _meson && read -r _options; } <"$_stamp" || return 1
    shift
    [ "$_path" = "$top" ] && [ "$_meson" = "$(meson --version)" ] || return 1
    [ $# -eq 0 ] || [ "$_options" = "options $*" ]
}

is_empty_or_absent() {
    [ ! -e "$1" ] || { [ -d "$1" ] && [ -z "$(ls -A "$1")" ]; }
}

looks_like_build_dir() {
    [ -d "$1/meson-private" ] || [ -d "$1/meson-logs" ] || [ -f "$1/build.ninja" ]
}

# Starts DIR over with --wipe, or by removing it where even that is refused (a setup cut short).
start_over() {
    _dir=$1
    shift
    meson_setup --wipe "$_dir" "$top" "$@" && return 0
    looks_like_build_dir "$_dir" || return 1
    rm -rf -- "$_dir"
    meson_setup "$_dir" "$top" "$@"
}

configure() {
    is_configured "$@" && return 0
    _where=$1
    say "Configuring ${_where#"$top"/}"
    shift
    if is_empty_or_absent "$_where"; then
        meson_setup "$_where" "$top" "$@"
    elif is_configured "$_where"; then # for other options only
        meson_setup --reconfigure "$_where" "$top" "$@" || start_over "$_where" "$@"
    elif looks_like_build_dir "$_where"; then
        start_over "$_where" "$@"
    else
        die 1 "$_where is there and is no build folder of ours: please move it away"
    fi || {
        say "$meson_said"
        die 1 "meson could not configure $_where (see above)"
    }
    printf '%s\n%s\noptions %s\n' "$top" "$(meson --version)" "$*" >"$_where/.configured-as"
}

# Starts over once where objects or the build description are damaged, as after a power cut; not
# where the compiler found fault with the code.
compile() {
    say "Building ${1#"$top"/}"
    meson_said=$(meson compile -C "$1" 2>&1 </dev/null) && return 0
    case $meson_said in
    *:[0-9]*': error: '*) ;;
    *)
        _stamp=$(cat "$1/.configured-as")
        if meson_setup --wipe "$1" "$top"; then
            printf '%s\n' "$_stamp" >"$1/.configured-as"
            meson_said=$(meson compile -C "$1" 2>&1 </dev/null) && return 0
        fi
        ;;
    esac
    say "$meson_said"
    return 1
}
