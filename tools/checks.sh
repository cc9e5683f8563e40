# shellcheck shell=sh
# What ./check checks. Each check is a function that prints what is wrong and ends with passed,
# failed or skipped, once; the tests proper are meson's, counted one by one by tally.py.
# Sourced after setup.sh, whose `top` and `build` it uses.
# shellcheck disable=SC2154 # those two

# --- Results: results/checks has a line "RESULT<tab>NAME<tab>REASON" a check, results/*.json are
# --- meson's logs.

start_results() {
    results=$1
    rm -rf -- "$results"
    mkdir -p -- "$results" || die 1 "can't write in $results"
}

note_result() {
    printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$results/checks"
    printf '%-7s %s%s\n' "$1" "$2" "${3:+: $3}"
}

passed() {
    note_result passed "$1" ""
}

failed() {
    note_result failed "$1" "$2"
}

skipped() {
    note_result skipped "$1" "$2"
}

# verdict NAME COMPLAINTS: passed if there are none.
verdict() {
    if [ -z "$2" ]; then
        passed "$1"
    else
        printf '%s\n' "$2"
        failed "$1" "see above"
    fi
}

# Another python3 in front of the distribution's (pyenv, conda) may lack what apt installs.
prefer_system_python() {
    if ! has_python_module jsonschema && [ -x /usr/bin/python3 ]; then
        PATH=/usr/bin:$PATH
        export PATH
    fi
}

# --- Tests --------------------------------------------------------------------------------------

# run_tests NAME DIR [OPTION...]: meson's tests of DIR.
run_tests() {
    _name=$1 _dir=$2
    shift 2
    _log=$_dir/meson-logs/testlog.json
    rm -f -- "$_log"
    # shellcheck disable=SC2086 # through is a command and its argument, or nothing
    ${through-} meson test -C "$_dir" --no-rebuild "$@" </dev/null
    if [ -s "$_log" ]; then
        cp -- "$_log" "$results/$_name.json"
    else
        failed "$_name" "meson test left no log"
    fi
}

# --- The rest, for --ci -------------------------------------------------------------------------

run_ci_checks() {
    check_werror gcc
    check_werror clang
    check_asan
    check_tsan
    check_minimal
    check_install
    check_layout
    check_shell
    check_man
    check_length
    check_forbidden
}

# build_variant NAME CC OPTION...: configures and builds build/ci-NAME; sets dir.
build_variant() {
    dir=$build/ci-$1
    _cc=$2
    case $_cc in
    clang) _cxx=clang++ ;;
    *) _cxx=g++ ;;
    esac
    shift 2
    # A subshell, since configure() ends the script where it fails.
    (export CC="$_cc" CXX="$_cxx" && configure "$dir" "$@" && compile "$dir")
}

check_werror() {
    _name="build with $1 -Werror"
    if ! has_command "$1"; then
        skipped "$_name" "$1 is not installed"
    elif build_variant "$1" "$1" -Dwerror=true -Dtests=enabled; then
        passed "$_name"
    else
        failed "$_name" "see above"
    fi
}

# Whether gcc can build and run a program with the sanitizer $1, run through the command after it.
sanitizer_works() {
    _sanitizer=$1
    shift
    printf 'int main(void) { return 0; }\n' >"$results/try.c"
    gcc -fsanitize="$_sanitizer" "$results/try.c" -o "$results/try" >/dev/null 2>&1 &&
        "$@" "$results/try" >/dev/null 2>&1
}

check_asan() {
    if ! sanitizer_works address,undefined env; then
        skipped "tests under ASan and UBSan" "gcc -fsanitize=address,undefined does not work here"
    elif build_variant asan gcc -Db_sanitize=address,undefined -Dtests=enabled -Dman=disabled; then
        passed "build with ASan and UBSan"
        ASAN_OPTIONS=abort_on_error=1:detect_stack_use_after_return=1 \
            UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:abort_on_error=1 \
            run_tests asan "$dir" --no-suite scripts --no-suite once --timeout-multiplier 3
    else
        failed "build with ASan and UBSan" "see above"
    fi
}

check_tsan() {
    # Some kernels place memory where an older TSan does not expect it, unless told not to shuffle.
    if sanitizer_works thread env; then
        through=''
    elif has_command setarch && sanitizer_works thread setarch -R; then
        through='setarch -R'
    else
        skipped "tests under TSan" "programs built with gcc -fsanitize=thread do not run here"
        return
    fi
    if build_variant tsan gcc -Db_sanitize=thread -Dtests=enabled -Dman=disabled; then
        passed "build with TSan"
        TSAN_OPTIONS=halt_on_error=1:abort_on_error=1 \
            run_tests tsan "$dir" --no-suite scripts --no-suite once --timeout-multiplier 5
    else
        failed "build with TSan" "see above"
    fi
    through=''
}

check_minimal() {
    if build_variant minimal gcc -Dauto_features=disabled -Dwerror=true; then
        passed "build without optional parts"
    else
        failed "build without optional parts" "see above"
    fi
}

# The files that an installation below $1 must have.
missing_files() {
    for _file in bin/rwsem share/man/man1/rwsem.1 share/man/man1/rwsem-bench-mmap.1 \
        share/man/man1/rwsem-bench-lock.1 share/man/man3/rwsem.3 \
        share/man/man3/rwsem_down_read.3 share/man/man7/rwsem.7 share/rwsem/record.schema.json \
        include/rwsem.h include/rwsem.hpp; do
        [ -s "$1/$_file" ] || printf '%s is not installed\n' "$1/$_file"
    done
    # Below it comes the library's own folder, which differs.
    find "$1/share/gdb/auto-load" -name 'librwsem.so.0-gdb.py' 2>&1 | grep -q '/lib.*/librwsem' ||
        printf 'the printers for gdb are not installed in %s\n' "$1/share/gdb/auto-load"
}

check_install() {
    _prefix=$results/prefix _stage=$results/stage
    if ! build_variant install gcc --prefix="$_prefix" -Dtests=disabled -Dman=enabled; then
        failed "installation" "see above"
        return
    fi
    _wrong=$(meson install -C "$dir" --no-rebuild 2>&1 >/dev/null </dev/null)
    _wrong=$_wrong$(missing_files "$_prefix")
    verdict "installation into a prefix" "$_wrong"
    _version=$("$_prefix/bin/rwsem" --version 2>&1)
    _expected="rwsem $(sed -n "s/^  version: '\(.*\)',/\1/p" "$top/meson.build")"
    [ "$_version" = "$_expected" ] && _wrong='' ||
        _wrong="rwsem --version says '$_version', not '$_expected'"
    verdict "the installed rwsem runs" "$_wrong"
    _wrong=$(DESTDIR=$_stage meson install -C "$dir" --no-rebuild 2>&1 >/dev/null </dev/null)
    _wrong=$_wrong$(missing_files "$_stage$_prefix")
    verdict "installation into a DESTDIR" "$_wrong"
}

# Files of the tree, NUL-terminated, of the patterns given (all if none).
tracked_files() {
    if [ -e "$top/.git" ] && has_command git; then
        git -c safe.directory='*' -C "$top" ls-files -z -- "$@"
    else # an unpacked archive
        (cd -- "$top" && find . -path './build*' -prune -o -path ./.git -prune -o -type f -print0)
    fi
}

check_layout() {
    if ! _clang_format=$(clang_format_14); then
        skipped "layout of C and C++ code" "clang-format 14 is not installed, and others differ"
        return
    fi
    verdict "layout of C and C++ code" "$(tracked_files '*.c' '*.h' '*.cpp' '*.hpp' |
        grep -zE '\.([ch]|[ch]pp)$' |
        xargs -0 -r "$_clang_format" --dry-run -Werror 2>&1)"
}

# Our shell scripts: what begins with a line that says so.
shell_files() {
    tracked_files | xargs -0 awk 'FNR == 1 && /^#!.*\/(env )?(ba|da)?sh|^# shellcheck shell=/ {
        print FILENAME
    }' | tr '\n' '\0'
}

check_shell() {
    if ! has_command shellcheck; then
        skipped "shellcheck" "shellcheck is not installed"
        return
    fi
    verdict "shellcheck" "$(shell_files | xargs -0 -r shellcheck -x -P "$top" 2>&1)"
}

check_man() {
    for _page in "$build"/docs/*.[1-8]; do
        if [ ! -e "$_page" ]; then
            failed "man pages" "none was built"
            return
        fi
        _base=${_page##*/}
        # Another name of a page is one line; tests/lib/test_man.py looks at those.
        case $(head -n 1 -- "$_page") in .so*) continue ;; esac
        if has_command man; then
            verdict "man --warnings $_base" "$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 \
                man --warnings -E UTF-8 -l -Tutf8 -Z "$_page" 2>&1 >/dev/null)"
        else
            skipped "man --warnings $_base" "man is not installed"
        fi
        if has_command mandoc; then
            # scdoc sets a paragraph after each heading, which mandoc finds superfluous.
            verdict "mandoc -Tlint $_base" "$(mandoc -Tlint -Wwarning "$_page" 2>&1 |
                grep -v 'skipping paragraph macro')"
        else
            skipped "mandoc -Tlint $_base" "mandoc is not installed"
        fi
    done
}

# Code, that is: the schema is data.
check_length() {
    verdict "no file over 500 lines" "$(tracked_files | xargs -0 wc -l |
        awk '$1 > 500 && $2 != "total" && $2 !~ /[.]json$/ { print $2 " has " $1 " lines" }')"
}

# Things that must not get into the tree: where it happens to lie, home folders, and hosts that
# packages come from. (The brackets keep these lines from finding themselves.)
check_forbidden() {
    _homes='(^|[^[:alnum:]_.-])/(home|Users)/[[:alnum:]]|(^|[^[:alnum:]_.-])/[r]oot/'
    _hosts='py[p]i\.|pyth[o]nhosted|npm[j]s\.|crates[.]io|ruby[g]ems|proxy[.]golang|deb[.]debian'
    _hosts="$_hosts|(archive|ports)[.]ubuntu|[h]ub[.]docker|[q]uay[.]io"
    _found=$(
        tracked_files | xargs -0 grep -nEI -e "$_homes" -e "$_hosts"
        tracked_files | xargs -0 grep -nFI -e "$top/"
    )
    verdict "no path or host of a developer's machine" "$_found"
}
