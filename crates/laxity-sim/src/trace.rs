//! The packet file: one row for every packet that arrived, as CSV or Parquet.

mod columns;
mod comparison;
mod csv;
mod parquet;

pub use columns::{COLUMNS, HOP_COLUMNS};
pub use comparison::{RowComparison, RowDifference};
pub use csv::CsvTrace;
pub use parquet::ParquetTrace;
