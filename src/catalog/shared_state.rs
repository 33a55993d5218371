//! Which state a function's results are read off, where several functions share one.

use super::function_id::Kernel;

/// What answers are read off; functions of one kind can share a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum States {
    /// Sums and how many values they have.
    Totals,
    /// Two moments.
    Moments,
    /// Four.
    Shape,
    /// The moments of pairs.
    Pairs,
}

impl States {
    /// The kind that the function's answers are read off, if it shares it with others.
    pub(crate) fn of(kernel: Kernel) -> Option<Self> {
        use Kernel as K;
        Some(match kernel {
            K::Sum | K::TrySum | K::Avg | K::TryAvg => Self::Totals,
            K::VarPop | K::VarSamp | K::StddevPop | K::StddevSamp => Self::Moments,
            K::Skewness | K::Kurtosis => Self::Shape,
            K::CovarPop
            | K::CovarSamp
            | K::Corr
            | K::RegrSlope
            | K::RegrIntercept
            | K::RegrR2
            | K::RegrSxx
            | K::RegrSyy
            | K::RegrSxy => Self::Pairs,
            _ => return None,
        })
    }
}
