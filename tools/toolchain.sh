# Finds what the build needs and says exactly what to run where something is missing.
# Sourced by the Makefile, never run. After
#   need_python   $python is an interpreter new enough for pyproject.toml, with venv
#   need_rust     cargo and rustc on PATH are new enough for Cargo.toml, and a linker is there
#   need_java     JAVA_HOME is a Java that Spark 4 runs on
# each holds, or the shell has ended with a message.
# Every candidate is run, not only looked up: version managers leave shims on PATH that name an
# interpreter or a toolchain which is not installed.
# shellcheck shell=bash

JAVA_MINIMUM=17
JAVA_PACKAGES=(openjdk-17-jre-headless openjdk-21-jre-headless) # Debian 12 has the first, 13 the second

fail() {
    printf 'windrow: %s\n' "$@" >&2
    exit 1
}

# at_least VERSION MINIMUM: dotted numbers, compared number by number.
at_least() {
    [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

# apt_install PACKAGE...: true when they are installed afterwards; false where that takes a password.
apt_install() {
    command -v apt-get >/dev/null || return 1
    local root=()
    if [ "$(id -u)" != 0 ]; then
        sudo -n true 2>/dev/null || return 1
        root=(sudo -n)
    fi
    echo "windrow: running: ${root[*]:+${root[*]} }apt-get install -y --no-install-recommends $*" >&2
    local apt=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120)
    # The package lists of a fresh machine are empty or stale: refresh them only when they fail us.
    "${apt[@]}" install -y --no-install-recommends "$@" >&2 </dev/null && return 0
    "${apt[@]}" update >&2 </dev/null || true
    "${apt[@]}" install -y --no-install-recommends "$@" >&2 </dev/null
}

# How a user runs apt-get by hand.
apt_hint() {
    if [ "$(id -u)" = 0 ]; then echo "apt-get install $*"; else echo "sudo apt-get install $*"; fi
}

python_minimum() {
    sed -n 's/^requires-python *= *">=\([0-9.]*\).*/\1/p' pyproject.toml
}

# python_version PYTHON: prints it as 3.11; fails where there is no such interpreter.
python_version() {
    "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null
}

# venv_works DIRECTORY: false where its interpreter is gone or too old, or pip did not get in.
venv_works() {
    local version
    version=$(python_version "$1/bin/python") || return 1
    at_least "$version" "$(python_minimum)" && "$1/bin/python" -m pip --version >/dev/null 2>&1
}

need_python() {
    local minimum name version package found=
    minimum=$(python_minimum)
    python=
    # PYTHON=... names one and no other.
    for name in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python3.10}; do
        version=$(python_version "$name") || continue
        found="$found $name is $version;"
        if at_least "$version" "$minimum"; then
            python=$name
            break
        fi
    done
    [ -n "$python" ] || fail "needs Python >= $minimum;${found:- found none.}" \
        "Run: $(apt_hint python3 python3-venv)   (or put a newer python3 on PATH, or set PYTHON=/path/to/python)"

    "$python" -c 'import venv, ensurepip' 2>/dev/null && return 0
    # Debian packs venv apart, under the interpreter's own name.
    package=python3-venv
    [ "$name" = python3 ] || package=python$version-venv
    apt_install "$package" && "$python" -c 'import venv, ensurepip' 2>/dev/null && return 0
    fail "$python cannot make virtual environments: its venv module is missing." "Run: $(apt_hint "$package")"
}

need_rust() {
    local minimum cargo dir version found=
    minimum=$(sed -n 's/^rust-version *= *"\([0-9.]*\)".*/\1/p' Cargo.toml | head -n 1)
    # A distribution's old cargo may stand on PATH before rustup's.
    for cargo in $(type -aP cargo || true) "${CARGO_HOME:-${HOME:-/root}/.cargo}/bin/cargo"; do
        dir=$(dirname "$cargo")
        "$cargo" --version >/dev/null 2>&1 || continue
        version=$("$dir/rustc" --version 2>/dev/null | cut -d ' ' -f 2 | cut -d - -f 1) || continue
        [ -n "$version" ] || continue
        if at_least "$version" "$minimum"; then
            PATH=$dir:$PATH
            export PATH
            need_linker
            return 0
        fi
        found="$found $dir/rustc is $version;"
    done
    local run="curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile default"
    if type -P rustup >/dev/null || [ -x "${CARGO_HOME:-${HOME:-/root}/.cargo}/bin/rustup" ]; then
        run="rustup toolchain install stable && rustup default stable"
    fi
    fail "needs Rust >= $minimum;${found:- found none.}" "Run: $run"
}

# rustc links through the C compiler's driver.
need_linker() {
    type -P cc >/dev/null && return 0
    apt_install gcc libc6-dev && type -P cc >/dev/null && return 0
    fail "Rust needs a C linker (cc) and there is none." "Run: $(apt_hint gcc libc6-dev)"
}

# java_home JAVA: prints the home of a Java that is new enough. A java on PATH may be a link or a
# shim, so the virtual machine itself is asked.
java_home() {
    local properties version
    properties=$("$1" -XshowSettings:properties -version 2>&1 </dev/null) || return 1
    version=$(sed -n 's/^ *java\.specification\.version = //p' <<<"$properties")
    at_least "${version:-0}" "$JAVA_MINIMUM" || return 1
    sed -n 's/^ *java\.home = //p' <<<"$properties"
}

find_java() {
    local java
    # The version Spark is tested with goes before newer ones that happen to be installed.
    for java in ${JAVA_HOME:+"$JAVA_HOME/bin/java"} $(type -P java || true) \
        /usr/lib/jvm/*-17-*/bin/java /usr/lib/jvm/*-21-*/bin/java /usr/lib/jvm/*/bin/java; do
        [ -x "$java" ] && java_home "$java" && return 0
    done
    return 1
}

need_java() {
    local home package
    if home=$(find_java); then
        export JAVA_HOME=$home
        return 0
    fi
    for package in "${JAVA_PACKAGES[@]}"; do
        if apt_install "$package" && home=$(find_java); then
            export JAVA_HOME=$home
            return 0
        fi
    done
    fail "Spark needs Java >= $JAVA_MINIMUM and there is none (looked at JAVA_HOME, PATH and /usr/lib/jvm)." \
        "Run: $(apt_hint "${JAVA_PACKAGES[0]}")   (or set JAVA_HOME)"
}
