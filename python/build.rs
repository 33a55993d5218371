//! Linker arguments of the extension.

use std::env::var;

/// The first release of Rust that links this target with LLVM's linker by itself.
const LLD_SINCE: u32 = 90;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let flags = var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let own_linker = !flags.contains("linker") && !flags.contains("fuse-ld") && var("RUSTC_LINKER").is_err();
    let released = var("PROFILE").is_ok_and(|profile| profile == "release");
    if own_linker && released && var("TARGET").is_ok_and(|target| target == "x86_64-unknown-linux-gnu") && has_lld() {
        // Functions of the same code become one: each strategy is compiled for each aggregate, often to the same code.
        println!("cargo::rustc-link-arg-cdylib=-Wl,--icf=all");
    }
}

/// Whether rustc links with LLVM's linker.
fn has_lld() -> bool {
    let version = std::process::Command::new(var("RUSTC").unwrap_or_default()).arg("--version").output();
    let version = version.map(|version| String::from_utf8_lossy(&version.stdout).into_owned()).unwrap_or_default();
    let minor = version.strip_prefix("rustc 1.").and_then(|rest| rest.split('.').next()?.parse().ok());
    minor.is_some_and(|minor: u32| minor >= LLD_SINCE)
}
