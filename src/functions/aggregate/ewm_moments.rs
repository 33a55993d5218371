//! `ewm_var`, `ewm_std`, `ewm_cov`, `ewm_corr`: exponentially weighted second moments over any frame, by rows or by time.
//!
//! ```text
//!   x                    a   b   .   d       q = 1 - alpha
//!   adjusted             q³  q²  .   1       the weights; by time q^rows is 2^(-time / half-life)
//!   recursive            the weights of y(d) = (1 - c) y(b) + c d:  (1 - c)..., c,   c = alpha / (q² + alpha)
//! ```
//!
//! The moments are those of pandas: weighted by these weights, and unless biased multiplied by `W² / (W² - W2)`, of the
//! sums of the weights and of their squares. States merge by Pébay's formulas, with the left rows' weights scaled; in the
//! recursive form the first value of a run has another weight if values precede it, and so is kept apart. Cost: O(1) per
//! update, and a power or two per merge. No value is taken out of a state, so a NaN leaves with its row.

use std::ops::Range;

use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use arrow_buffer::ScalarBuffer;

use super::accumulator::{Accumulated, PrimitiveReader, PrimitiveResult};
use crate::error::Result;
use crate::functions::native::to_primitive;
use crate::functions::saved_state::{SavedValue, saved_row, saved_value};
use crate::model::aggregate::Accumulator;
use crate::model::row_mask::RowMask;

/// Weighted moments of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct WeightedMoments {
    /// The sums of the weights and of their squares.
    pub weight: f64,
    /// See `weight`.
    pub squares: f64,
    /// The means.
    pub x: f64,
    /// See `x`.
    pub y: f64,
    /// The weighted sums of products of deviations.
    pub xx: f64,
    /// See `xx`.
    pub xy: f64,
    /// See `xx`.
    pub yy: f64,
}

impl WeightedMoments {
    fn of([x, y]: [f64; 2], weight: f64) -> Self {
        // Deviations from an infinite mean are NaN, in whatever order states merge.
        let product = |is_finite: bool| if is_finite { 0.0 } else { f64::NAN };
        let (xx, yy) = (product(x.is_finite()), product(y.is_finite()));
        Self { weight, squares: weight * weight, x, y, xx, xy: xx + yy, yy }
    }

    fn scale(&mut self, by: f64) {
        self.weight *= by;
        self.squares *= by * by;
        self.xx *= by;
        self.xy *= by;
        self.yy *= by;
    }

    fn add(&mut self, other: &Self) {
        if other.weight == 0.0 {
            return;
        }
        if self.weight == 0.0 {
            *self = *other;
            return;
        }
        let weight = self.weight + other.weight;
        let (dx, dy) = (other.x - self.x, other.y - self.y);
        let (share, both) = (other.weight / weight, self.weight * other.weight / weight);
        self.xx += other.xx + dx * dx * both;
        self.xy += other.xy + dx * dy * both;
        self.yy += other.yy + dy * dy * both;
        // An infinity minus another is no difference, but their mean is known.
        let mean = |left: f64, right: f64, apart: f64| {
            if apart.is_finite() { left + apart * share } else { left * (self.weight / weight) + right * share }
        };
        (self.x, self.y) = (mean(self.x, other.x, dx), mean(self.y, other.y, dy));
        self.weight = weight;
        self.squares += other.squares;
    }
}

/// The state of a run of rows.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct EwmState {
    /// The number of values.
    pub values: u64,
    /// The first value and its weight, in the recursive form.
    pub first: [f64; 2],
    /// See `first`.
    pub slope: f64,
    /// The other values.
    pub others: WeightedMoments,
    /// The time of the first value. In rows: the number of rows up to the value to which weights are relative,
    /// the first in the recursive form, else the last.
    pub begin: i64,
    /// The time of the last value. In rows: the number of rows after it, of all rows if there is no value.
    pub end: i64,
}

/// What ages values.
#[derive(Debug, Clone)]
pub enum EwmClock {
    /// Rows: each multiplies earlier weights by `1 - alpha`.
    Rows {
        /// The rows that do so.
        rows: RowMask,
        /// The weight of a new value.
        alpha: f64,
    },
    /// Times of the values.
    Times {
        /// Per row.
        times: ScalarBuffer<i64>,
        /// The time in which a weight halves.
        half_life: f64,
    },
}

/// Folds pairs of doubles into weighted moments.
#[derive(Debug, Clone)]
pub struct EwmMoments {
    values: [ScalarBuffer<f64>; 2],
    inclusion: RowMask,
    clock: EwmClock,
    adjusts: bool,
}

impl EwmMoments {
    /// How much the weights before `distance` decay.
    fn decay(&self, distance: f64) -> f64 {
        match &self.clock {
            EwmClock::Rows { alpha, .. } => (1.0 - alpha).powf(distance),
            EwmClock::Times { half_life, .. } => (-distance / half_life).exp2(),
        }
    }

    /// The weight of the later of two values in their mean, in the recursive form.
    fn later_weight(&self, distance: f64) -> f64 {
        match &self.clock {
            EwmClock::Rows { alpha, .. } => alpha / (self.decay(distance) + alpha),
            EwmClock::Times { half_life, .. } => -(-std::f64::consts::LN_2 * distance / half_life).exp_m1(),
        }
    }

    fn append(&self, left: &mut EwmState, right: &EwmState) {
        let by_rows = matches!(self.clock, EwmClock::Rows { .. });
        match (left.values, right.values) {
            (_, 0) => left.end += if by_rows { right.end } else { 0 },
            (0, _) => *left = EwmState { begin: right.begin + if by_rows { left.end } else { 0 }, ..*right },
            _ => {
                // Adjusted weights are relative to the last value, recursive ones begin with the first.
                let time = if self.adjusts { right.end } else { right.begin };
                let rows = left.end + right.begin;
                let distance = if by_rows { rows as f64 } else { time.abs_diff(left.end) as f64 };
                if self.adjusts {
                    left.others.scale(self.decay(distance));
                    left.begin += if by_rows { rows } else { 0 };
                } else {
                    let later = self.later_weight(distance);
                    let kept = right.slope * (1.0 - later);
                    left.others.scale(kept);
                    left.slope *= kept;
                    left.others.add(&WeightedMoments::of(right.first, right.slope * later));
                }
                left.others.add(&right.others);
                left.values += right.values;
                left.end = right.end;
            }
        }
    }

    fn one(&self, row: usize) -> EwmState {
        let pair = [self.values[0][row], self.values[1][row]];
        let (begin, end) = match &self.clock {
            EwmClock::Rows { .. } => (1, 0),
            EwmClock::Times { times, .. } => (times[row], times[row]),
        };
        let one = EwmState { values: 1, begin, end, ..EwmState::default() };
        if self.adjusts {
            EwmState { others: WeightedMoments::of(pair, 1.0), ..one }
        } else {
            EwmState { first: pair, slope: 1.0, ..one }
        }
    }
}

impl Accumulator for EwmMoments {
    type State = EwmState;

    fn init(&self) -> EwmState {
        EwmState::default()
    }

    fn update(&self, state: &mut EwmState, rows: Range<usize>) -> Result<()> {
        let ages = match &self.clock {
            EwmClock::Rows { rows, .. } => rows,
            EwmClock::Times { .. } => &self.inclusion,
        };
        ages.for_each(rows, |row| {
            if self.inclusion.includes(row) {
                self.append(state, &self.one(row));
            } else {
                state.end += 1;
            }
        });
        Ok(())
    }

    fn merge(&self, left: &mut EwmState, right: &EwmState) -> Result<()> {
        self.append(left, right);
        Ok(())
    }

    fn save(&self, state: &EwmState) -> Result<RecordBatch> {
        let EwmState { values, first, slope, others, begin, end } = *state;
        saved_row([
            ("values", values.write()?),
            ("first_x", first[0].write()?),
            ("first_y", first[1].write()?),
            ("slope", slope.write()?),
            ("weight", others.weight.write()?),
            ("squares", others.squares.write()?),
            ("x", others.x.write()?),
            ("y", others.y.write()?),
            ("xx", others.xx.write()?),
            ("xy", others.xy.write()?),
            ("yy", others.yy.write()?),
            ("begin", begin.write()?),
            ("end", end.write()?),
        ])
    }

    fn load(&self, saved: &RecordBatch) -> Result<EwmState> {
        Ok(EwmState {
            values: saved_value(saved, "values")?,
            first: [saved_value(saved, "first_x")?, saved_value(saved, "first_y")?],
            slope: saved_value(saved, "slope")?,
            others: WeightedMoments {
                weight: saved_value(saved, "weight")?,
                squares: saved_value(saved, "squares")?,
                x: saved_value(saved, "x")?,
                y: saved_value(saved, "y")?,
                xx: saved_value(saved, "xx")?,
                xy: saved_value(saved, "xy")?,
                yy: saved_value(saved, "yy")?,
            },
            begin: saved_value(saved, "begin")?,
            end: saved_value(saved, "end")?,
        })
    }
}

/// What is read from the moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EwmResult {
    /// The mean of x.
    Mean,
    /// The variance of x.
    Variance,
    /// Its root.
    Deviation,
    /// The covariance of x and y.
    Covariance,
    /// The correlation of x and y.
    Correlation,
}

/// Reads a result from weighted moments.
#[derive(Debug, Clone, Copy)]
pub struct EwmReader {
    /// Which.
    pub result: EwmResult,
    /// Whether the weights are taken as they are, and not corrected for bias.
    pub bias: bool,
}

impl EwmReader {
    /// The aggregate of the pairs `x`, `y` of doubles.
    ///
    /// # Errors
    /// The columns have another type.
    pub fn over(
        self,
        x: &dyn Array,
        y: &dyn Array,
        inclusion: RowMask,
        clock: EwmClock,
        adjusts: bool,
    ) -> Result<Accumulated<EwmMoments, PrimitiveResult<Self>>> {
        let doubles =
            |column: &dyn Array| Ok::<_, crate::error::Error>(to_primitive::<Float64Type>(column)?.values().clone());
        let values = [doubles(x)?, doubles(y)?];
        Ok(Accumulated::new(EwmMoments { values, inclusion, clock, adjusts }, self))
    }
}

impl PrimitiveReader<EwmState> for EwmReader {
    type Type = Float64Type;

    fn read(&self, state: &EwmState) -> Result<Option<f64>> {
        let mut all = state.others;
        all.add(&WeightedMoments::of(state.first, state.slope));
        if state.values == 0 {
            return Ok(None);
        }
        let corrected = |sum: f64| {
            let share = sum / all.weight;
            let square = all.weight * all.weight;
            match square - all.squares {
                _ if self.bias => Some(share),
                rest if rest > 0.0 || rest.is_nan() => Some(share * square / rest),
                _ => None,
            }
        };
        let (alone, varies) = (state.values == 1, all.xx != 0.0 && all.yy != 0.0);
        Ok(match self.result {
            EwmResult::Mean => Some(all.x),
            EwmResult::Correlation => (!alone && varies).then(|| all.xy / (all.xx * all.yy).sqrt()),
            _ if alone && !self.bias => None,
            EwmResult::Variance => corrected(all.xx),
            EwmResult::Deviation => corrected(all.xx).map(f64::sqrt),
            EwmResult::Covariance => corrected(all.xy),
        })
    }
}
