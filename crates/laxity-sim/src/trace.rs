//! Files of packets: one row for every packet that arrived, as CSV or Parquet, and traces for
//! Perfetto.

mod columns;
mod comparison;
mod csv;
mod parquet;
mod perfetto;

pub use columns::{COLUMNS, HOP_COLUMNS};
pub use comparison::{RowComparison, RowDifference};
pub use csv::CsvTrace;
pub use parquet::ParquetTrace;
pub use perfetto::PerfettoTrace;
