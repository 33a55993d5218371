#!/bin/sh
# Links the wheel's extension against glibc 2.17, the oldest that Rust itself supports, whatever this machine's own is.
# rustc takes this as its linker (`make wheel`): zig knows the symbols of each glibc. maturin sorts out the arguments.
for argument; do
    shift
    # zig links by itself, and does not merge equal functions as python/build.rs asks of rustc's own linker.
    [ "$argument" = -Wl,--icf=all ] || set -- "$@" "$argument"
done
exec maturin zig cc -- -target "$(uname -m)-linux-gnu.2.17" "$@"
