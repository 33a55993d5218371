//! How many random inputs a property test draws.

/// `count`, times what the environment asks for in `WINDROW_FUZZ`: `make nightly` draws more, `make check` fewer.
pub fn cases(count: u32) -> u32 {
    let factor = std::env::var("WINDROW_FUZZ").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1.0);
    (f64::from(count) * factor).ceil().max(1.0) as u32
}
