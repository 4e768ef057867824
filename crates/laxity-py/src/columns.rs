//! Tables of Arrow as bytes, for other processes.

use arrow_array::{Array, ArrayRef, RecordBatch, make_array};
use arrow_buffer::Buffer;
use arrow_data::{ArrayData, ArrayDataBuilder};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType};

/// The format of an array as Arrow writes it, its length, its bytes, and the bits of what is there,
/// if something is missing.
type Bytes = (String, usize, Vec<Vec<u8>>, Option<Vec<u8>>);

/// A column in bytes: its name, its values, and the words that these are numbers of, if they are.
pub(crate) type Column = (String, Bytes, Option<Bytes>);

/// The columns of a table in bytes.
pub(crate) fn columns(table: &RecordBatch) -> Result<Vec<Column>, ArrowError> {
    let bytes = |array: &ArrayData, format: String| -> Bytes {
        let buffers = array.buffers().iter().map(|buffer| buffer.to_vec()).collect();
        (format, array.len(), buffers, array.nulls().map(|nulls| nulls.validity().to_vec()))
    };
    let column = |(name, column): (&str, &ArrayRef)| {
        let (array, schema) = (column.to_data(), FFI_ArrowSchema::try_from(column.data_type())?);
        let words = schema.dictionary().zip(array.child_data().first());
        let words = words.map(|(schema, words)| bytes(words, schema.format().to_string()));
        Ok((name.to_string(), bytes(&array, schema.format().to_string()), words))
    };
    let schema = table.schema();
    let names = schema.fields().iter().map(|field| field.name().as_str());
    names.zip(table.columns()).map(column).collect()
}

/// The table of such columns.
pub(crate) fn table(columns: Vec<Column>) -> Result<RecordBatch, ArrowError> {
    let kind = |format: &str| DataType::try_from(&FFI_ArrowSchema::try_new(format, vec![], None)?);
    let array = |kind: DataType, (_, length, buffers, there): Bytes| {
        let buffers = buffers.into_iter().map(Buffer::from_vec).collect();
        let array = ArrayDataBuilder::new(kind).len(length).buffers(buffers);
        array.null_bit_buffer(there.map(Buffer::from_vec)).align_buffers(true)
    };
    let column = |(name, values, words): Column| {
        let keys = kind(&values.0)?;
        let column = match words {
            Some(words) => {
                let of = kind(&words.0)?;
                let words = array(of.clone(), words).build()?;
                let kind = DataType::Dictionary(Box::new(keys), Box::new(of));
                array(kind, values).add_child_data(words).build()?
            }
            None => array(keys, values).build()?,
        };
        Ok((name, make_array(column)))
    };
    let columns = columns.into_iter().map(column);
    RecordBatch::try_from_iter(columns.collect::<Result<Vec<_>, ArrowError>>()?)
}
