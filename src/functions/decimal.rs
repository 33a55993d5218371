//! Decimal results: computed in 256 bits, checked against their type's digits, gathered in its width.

use arrow_array::ArrayRef;
use arrow_array::builder::{Decimal128Builder, Decimal256Builder};
use arrow_buffer::i256;
use arrow_schema::DataType;

use super::native::labelled;
use crate::error::{Error, Result};

/// A decimal result: values of up to so many digits.
#[derive(Debug, Clone)]
pub(super) struct DecimalColumn {
    pub(super) output: DataType,
    limit: i256,
}

impl DecimalColumn {
    /// # Errors
    /// `output` is no decimal of 128 or 256 bits.
    pub(super) fn new(output: DataType) -> Result<Self> {
        let (DataType::Decimal128(precision, _) | DataType::Decimal256(precision, _)) = output else {
            return Err(Error::internal(format!("a decimal result of type {output}")));
        };
        let limit = i256::from_i128(10).wrapping_pow(u32::from(precision));
        Ok(Self { output, limit })
    }

    pub(super) fn builder(&self, capacity: usize) -> DecimalBuilder {
        match self.output {
            DataType::Decimal128(..) => DecimalBuilder::Narrow(Decimal128Builder::with_capacity(capacity)),
            _ => DecimalBuilder::Wide(Decimal256Builder::with_capacity(capacity)),
        }
    }

    /// The value where it has few enough digits.
    #[inline]
    pub(super) fn fit(&self, value: Option<i256>) -> Option<i256> {
        value.filter(|value| *value < self.limit && *value > self.limit.wrapping_neg())
    }

    pub(super) fn finish(&self, out: DecimalBuilder) -> Result<ArrayRef> {
        match out {
            DecimalBuilder::Narrow(mut out) => labelled(&out.finish(), &self.output),
            DecimalBuilder::Wide(mut out) => labelled(&out.finish(), &self.output),
        }
    }
}

/// Decimal results, no wider than their type.
#[derive(Debug)]
pub enum DecimalBuilder {
    /// Of 128 bits.
    Narrow(Decimal128Builder),
    /// Of 256 bits.
    Wide(Decimal256Builder),
}

impl DecimalBuilder {
    /// Appends a value that fits the type.
    #[inline]
    pub(super) fn append(&mut self, value: Option<i256>) {
        match self {
            Self::Narrow(out) => out.append_option(value.map(i256::as_i128)),
            Self::Wide(out) => out.append_option(value),
        }
    }
}
