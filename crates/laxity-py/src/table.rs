//! Tables as readers of Arrow take them.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::ffi::FFI_ArrowSchema;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::columns::{self, Column};
use crate::errors::Result;

/// A table in columns, by Arrow's PyCapsule interface: polars, pyarrow, pandas and DuckDB read it
/// without a copy.
#[pyclass(frozen, module = "laxity._laxity")]
pub struct Table(pub RecordBatch);

#[pymethods]
impl Table {
    /// A table of what [`__getnewargs__`](Self::__getnewargs__) returns.
    #[new]
    fn new(columns: Vec<Column>) -> Result<Table> {
        Ok(Table(columns::table(columns)?))
    }

    /// The columns as bytes, from which another process makes the table.
    fn __getnewargs__(&self) -> Result<(Vec<Column>,)> {
        Ok((columns::columns(&self.0)?,))
    }

    /// The rows, in the table's own types. A schema that a reader requests is ignored, as the
    /// interface allows.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let rows = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(rows));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The names and types of the columns.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.0.schema().as_ref())?;
        Ok(PyCapsule::new_with_value(py, schema, c"arrow_schema")?)
    }

    /// How many rows it has.
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// Its size and its columns.
    fn __repr__(&self) -> String {
        let schema = self.0.schema();
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        format!("<laxity table of {} rows: {}>", self.0.num_rows(), names.join(", "))
    }
}
