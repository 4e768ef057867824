//! The store: `runs/scheduler=NAME/ID.parquet` in a folder, which DuckDB and Polars read as one
//! table.
//!
//! A row is a figure of a class in a run; its scheduler is in the folder's name, as Hive has it.
//! Each file has in its metadata its form, the plan's text, Laxity's version and how long the run
//! took. It is written beside its place and renamed, so that a file that is there is whole.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::record::Field;
use parquet::schema::types::Type;

use super::job::JobResult;
use super::{Job, Quantity, Space};
use crate::Error;

/// A folder with the runs of studies.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// A column for a key that varies.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name: the key, for numbers with a unit followed by that in which they are, `_ns`, `_bps`
    /// or `_bytes`.
    pub name: String,
    /// The key's place among those that vary.
    pub(super) key: usize,
    pub(super) column_type: ColumnType,
}

/// What a column holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum ColumnType {
    /// The value as it is written, without quotes.
    Text,
    /// A number without a unit.
    Number,
    /// A time, rate or size in its least unit.
    Quantity(Quantity),
}

/// A row of the store.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Whether the run kept every promise.
    pub kept: bool,
    /// The class, or `link`.
    pub class: String,
    /// The output of a network; absent for one link, and from end to end.
    pub at: Option<String>,
    /// What it is, as summaries call it.
    pub figure: String,
    /// Its value.
    pub value: f64,
}

/// A key that varies, all of whose values are numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers {
    /// The key.
    pub key: String,
    /// The name of its column in the store.
    pub column: String,
    /// The unit in which they are shown; empty if they have none.
    pub unit: &'static str,
    /// The factor that converts a number of the store to that unit.
    pub factor: f64,
    /// Its values as lines have them, with the numbers of the store.
    pub values: Vec<(String, f64)>,
}

impl Numbers {
    /// The keys of a study's combinations whose values are all numbers.
    pub fn new(space: &Space) -> Vec<Numbers> {
        let all = space.values();
        let numbers = columns(space).into_iter().filter_map(|column| {
            let number = |value: &str| match column.column_type {
                ColumnType::Text => None,
                ColumnType::Number => value.parse().ok(),
                ColumnType::Quantity(quantity) => Some(quantity.read(value)? as f64),
            };
            let values = all[column.key].iter().map(|value| plain(value));
            let values = values.filter_map(|value| Some((value.to_owned(), number(value)?)));
            let values: Vec<(String, f64)> = values.collect();
            let (unit, factor) = match column.column_type {
                ColumnType::Text => return None,
                ColumnType::Number => ("", 1.0),
                ColumnType::Quantity(quantity) => {
                    quantity.in_columns(values.iter().map(|(_, number)| *number))
                }
            };
            let key = space.keys[column.key].to_string();
            Some(Numbers { key, column: column.name, unit, factor, values })
        });
        numbers.collect()
    }
}

/// The columns of the keys that vary.
pub(super) fn columns(space: &Space) -> Vec<Column> {
    let mut columns = Vec::new();
    for (key, (path, values)) in space.keys.iter().zip(space.values()).enumerate() {
        let values: Vec<&str> = values.iter().map(|value| plain(value)).collect();
        let name = path.to_string();
        if values.iter().all(|value| value.parse::<f64>().is_ok()) {
            columns.push(Column { name, key, column_type: ColumnType::Number });
            continue;
        }
        columns.push(Column { name: name.clone(), key, column_type: ColumnType::Text });
        let are = |quantity: &Quantity| values.iter().all(|value| quantity.read(value).is_some());
        if let Some(quantity) = Quantity::ALL.into_iter().find(are) {
            let name = name + quantity.suffix();
            columns.push(Column { name, key, column_type: ColumnType::Quantity(quantity) });
        }
    }
    columns
}

/// A value without its quotes.
pub(crate) fn plain(value: &str) -> &str {
    value.trim_matches(['"', '\''])
}

impl Store {
    /// In this folder, which is made if it is not there. What a killed process left half written is
    /// removed.
    ///
    /// # Errors
    /// If it cannot be.
    pub fn open(folder: &Path) -> Result<Store, Error> {
        let runs = folder.join("runs");
        fs::create_dir_all(&runs).map_err(|error| Error::Io { path: runs, error })?;
        let store = Store { folder: folder.to_path_buf() };
        store.clear();
        Ok(store)
    }

    /// Where a run is.
    pub fn path(&self, job: &Job) -> PathBuf {
        let scheduler = job.scheduler.replace('/', "%2F");
        self.folder
            .join("runs")
            .join(format!("scheduler={scheduler}"))
            .join(format!("{}.parquet", job.id))
    }

    /// Whether a run is there.
    pub fn has(&self, job: &Job) -> bool {
        self.path(job).is_file()
    }

    /// Writes a run.
    pub(super) fn write(
        &self,
        job: &Job,
        columns: &[Column],
        made: &JobResult,
    ) -> Result<(), Error> {
        let path = self.path(job);
        let bytes =
            file(job, columns, made).map_err(|error| Error::Store { path: path.clone(), error })?;
        let _writing = WRITING.read().unwrap_or_else(PoisonError::into_inner);
        let write = || {
            fs::create_dir_all(path.parent().expect("it has a folder"))?;
            let (mut file, beside) = begun(&path)?;
            let whole = file.write_all(&bytes).and_then(|()| file.sync_all());
            whole.and_then(|()| fs::rename(&beside, &path)).inspect_err(|_| {
                // What is half written is of no use, and the error tells of the disk.
                let _ = fs::remove_file(&beside);
            })
        };
        write().map_err(|error| Error::Io { path, error })
    }

    /// Removes what killed processes had half written.
    fn clear(&self) {
        let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
        let runs = entries(&self.folder.join("runs")).flat_map(|of| entries(&of.path()));
        for entry in runs.filter(|entry| entry.path().extension() == Some(OsStr::new(UNFINISHED))) {
            let Ok(file) = File::open(entry.path()) else { continue };
            // The lock lasts until the file is gone, so a process that has just created it notices.
            if file.try_lock().is_ok() {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// The rows of a run; `None` if it is not there.
    ///
    /// # Errors
    /// If the file is none of a run.
    pub fn rows(&self, job: &Job) -> Result<Option<Vec<Row>>, Error> {
        let path = self.path(job);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::Io { path, error }),
        };
        rows(file).map(Some).map_err(|error| Error::Store { path, error })
    }
}

/// Creates a file beside another. It is locked, so that no process takes it for one that a killed
/// process left behind; on systems without locks it is not.
fn begun(path: &Path) -> io::Result<(File, PathBuf)> {
    loop {
        let beside = beside(path);
        let file = File::create_new(&beside)?;
        let is_taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        if !is_taken && beside.exists() {
            return Ok((file, beside));
        }
    }
}

/// A name of its own for each writer, also among threads, and among machines that share process
/// numbers.
fn beside(path: &Path) -> PathBuf {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    path.with_extension(format!("{}-{}.{UNFINISHED}", std::process::id(), now.as_nanos()))
}

/// The key of a file's metadata that gives its form, and the form that is written and read.
const FORM: &str = "laxity.store";
const VERSION: &str = "1";

/// The ending of files that are not whole.
const UNFINISHED: &str = "tmp";

/// Writers hold it shared; [`stop_writing`] holds it alone.
static WRITING: RwLock<()> = RwLock::new(());

/// Waits until every store has written the runs that it has begun, and blocks all later ones for
/// good. Call it where the process is about to end.
pub fn stop_writing() {
    std::mem::forget(WRITING.write().unwrap_or_else(PoisonError::into_inner));
}

fn rows(file: File) -> Result<Vec<Row>, ParquetError> {
    let reader = SerializedFileReader::new(file)?;
    let keys = reader.metadata().file_metadata().key_value_metadata().into_iter().flatten();
    // Those without it are older than it.
    if let Some(other) = keys.filter(|key| key.key == FORM).find_map(|key| key.value.as_deref())
        && other != VERSION
    {
        let what = format!("it is a run of form {other}, and form {VERSION} is read here");
        return Err(ParquetError::General(what));
    }
    let mut rows = Vec::new();
    for row in reader.get_row_iter(None)? {
        let row = row?;
        let field = |wanted: &str| {
            row.get_column_iter().find(|(name, _)| *name == wanted).map(|(_, field)| field.clone())
        };
        let missing = || ParquetError::General("it has not the columns of a run".into());
        let (Some(Field::Str(class)), Some(Field::Str(figure)), Some(Field::Double(value))) =
            (field("class"), field("figure"), field("value"))
        else {
            return Err(missing());
        };
        let Some(Field::Bool(kept)) = field("kept") else { return Err(missing()) };
        let at = match field("at") {
            Some(Field::Str(at)) => Some(at),
            Some(Field::Null) => None,
            _ => return Err(missing()),
        };
        rows.push(Row { kept, class, at, figure, value });
    }
    Ok(rows)
}

/// The bytes of a run's file.
fn file(job: &Job, columns: &[Column], made: &JobResult) -> Result<Vec<u8>, ParquetError> {
    let meta = [
        (FORM, VERSION.to_owned()),
        ("laxity.version", env!("CARGO_PKG_VERSION").to_owned()),
        ("laxity.plan", made.text.clone()),
        ("laxity.took_ns", made.took.as_nanos().to_string()),
    ];
    let meta = meta.map(|(key, value)| KeyValue::new(key.to_owned(), value)).to_vec();
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(meta))
        .build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema(columns)?, Arc::new(properties))?;
    let figures: Vec<_> =
        made.figures.iter().filter_map(|figure| Some((figure, figure.value?))).collect();
    let count = figures.len();
    let mut group = writer.next_row_group()?;
    let same = |text: &str| vec![ByteArray::from(text); count];
    put::<ByteArrayType>(&mut group, &same(&job.id.to_string()), None)?;
    put::<Int64Type>(&mut group, &vec![job.seed as i64; count], None)?;
    let known = made.admitted.is_some();
    let admitted = vec![made.admitted.unwrap_or_default(); if known { count } else { 0 }];
    put::<BoolType>(&mut group, &admitted, Some(&vec![i16::from(known); count]))?;
    put::<BoolType>(&mut group, &vec![made.kept; count], None)?;
    for Column { key, column_type, .. } in columns {
        let value = job.point[*key].as_deref().map(plain);
        let number = match column_type {
            ColumnType::Text => {
                let present = vec![i16::from(value.is_some()); count];
                let values = value.map_or(Vec::new(), same);
                put::<ByteArrayType>(&mut group, &values, Some(&present))?;
                continue;
            }
            ColumnType::Number => value.and_then(|value| value.parse().ok()),
            ColumnType::Quantity(quantity) => {
                value.and_then(|value| Some(quantity.read(value)? as f64))
            }
        };
        let present = vec![i16::from(number.is_some()); count];
        put::<DoubleType>(
            &mut group,
            &number.map_or(Vec::new(), |number| vec![number; count]),
            Some(&present),
        )?;
    }
    let words = |word: &dyn Fn(&laxity_answers::figure::Figure) -> Option<&str>| -> Vec<ByteArray> {
        figures.iter().filter_map(|(figure, _)| Some(ByteArray::from(word(figure)?))).collect()
    };
    put::<ByteArrayType>(&mut group, &words(&|figure| Some(&figure.class)), None)?;
    let present: Vec<i16> =
        figures.iter().map(|(figure, _)| i16::from(figure.at.is_some())).collect();
    put::<ByteArrayType>(&mut group, &words(&|figure| figure.at.as_deref()), Some(&present))?;
    put::<ByteArrayType>(&mut group, &words(&|figure| Some(figure.name)), None)?;
    put::<DoubleType>(
        &mut group,
        &figures.iter().map(|(_, value)| *value).collect::<Vec<_>>(),
        None,
    )?;
    group.close()?;
    writer.into_inner()
}

fn schema(columns: &[Column]) -> Result<Arc<Type>, ParquetError> {
    let column = |name: &str, kind, is_text, is_there| {
        let repetition = if is_there { Repetition::REQUIRED } else { Repetition::OPTIONAL };
        let converted = if is_text { ConvertedType::UTF8 } else { ConvertedType::NONE };
        let built = Type::primitive_type_builder(name, kind)
            .with_repetition(repetition)
            .with_converted_type(converted);
        Ok::<_, ParquetError>(Arc::new(built.build()?))
    };
    let text = |name: &str, is_there| column(name, Physical::BYTE_ARRAY, true, is_there);
    let mut fields = vec![
        text("run", true)?,
        column("seed", Physical::INT64, false, true)?,
        column("admitted", Physical::BOOLEAN, false, false)?,
        column("kept", Physical::BOOLEAN, false, true)?,
    ];
    for Column { name, column_type, .. } in columns {
        fields.push(match column_type {
            ColumnType::Text => text(name, false)?,
            ColumnType::Number | ColumnType::Quantity(_) => {
                column(name, Physical::DOUBLE, false, false)?
            }
        });
    }
    fields.extend([text("class", true)?, text("at", false)?, text("figure", true)?]);
    fields.push(column("value", Physical::DOUBLE, false, true)?);
    Ok(Arc::new(Type::group_type_builder("run").with_fields(fields).build()?))
}

fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
    present: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("the schema has fewer columns".into()));
    };
    column.typed::<T>().write_batch(values, present, None)?;
    column.close()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn run(version: &str) -> File {
        let meta = vec![KeyValue::new(FORM.to_owned(), version.to_owned())];
        let properties = WriterProperties::builder().set_key_value_metadata(Some(meta)).build();
        let file = tempfile::tempfile().unwrap();
        let writer = SerializedFileWriter::new(
            file.try_clone().unwrap(),
            schema(&[]).unwrap(),
            Arc::new(properties),
        );
        writer.unwrap().close().unwrap();
        file
    }

    /// Who opens the store meanwhile clears away what nobody writes, and nothing else.
    #[test]
    fn what_is_being_written_is_not_cleared_away() {
        let folder = tempfile::tempdir().unwrap();
        let runs = folder.path().join("runs").join("scheduler=edf");
        fs::create_dir_all(&runs).unwrap();
        let left = runs.join(format!("left.{UNFINISHED}"));
        fs::write(&left, "half").unwrap();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        Store::open(folder.path()).unwrap();
                    }
                });
            }
            for number in 0..3_000 {
                let path = runs.join(format!("{number}.parquet"));
                let (_file, beside) = begun(&path).unwrap();
                let renamed = fs::rename(&beside, &path);
                over.store(renamed.is_err() || number == 2_999, Ordering::Relaxed);
                renamed.unwrap();
            }
        });
        assert!(!left.exists());
    }

    #[test]
    fn a_run_of_another_form_is_refused_by_its_number() {
        assert_eq!(rows(run(VERSION)).unwrap(), []);
        let refused = rows(run("9")).unwrap_err().to_string();
        assert!(refused.contains("it is a run of form 9, and form 1 is read here"), "{refused}");
    }
}
