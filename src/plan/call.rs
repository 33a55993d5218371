//! A call as it is planned.
