//! The number of random inputs of a property test.

/// `count` times the factor in the environment variable `WINDROW_FUZZ`: `make nightly` sets a larger one, `make check`
/// a smaller one.
pub fn cases(count: u32) -> u32 {
    let factor = std::env::var("WINDROW_FUZZ").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1.0);
    (f64::from(count) * factor).ceil().max(1.0) as u32
}
