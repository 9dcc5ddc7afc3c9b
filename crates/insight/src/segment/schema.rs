//! The types of the columns in Parquet.

use crate::column::{Column, ColumnKind};
use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::errors::ParquetError;
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, Type, TypePtr};
use std::sync::{Arc, LazyLock};

/// The digits of a duration, and those behind its point: cells are microseconds, which engines read as milliseconds.
const DIGITS: (i32, i32) = (18, 3);

/// The schema of a segment: every column is required.
pub(super) fn schema() -> Result<TypePtr, ParquetError> {
    let fields: Result<Vec<TypePtr>, ParquetError> = Column::ALL.iter().map(|column| field(*column)).collect();
    Ok(Arc::new(Type::group_type_builder("event").with_fields(fields?).build()?))
}

/// The descriptions of the columns, in the order of [`Column::ALL`]. Empty if the schema is wrong, which a test excludes.
static DESCRIPTIONS: LazyLock<Vec<ColumnDescPtr>> =
    LazyLock::new(|| schema().map(|schema| SchemaDescriptor::new(schema).columns().to_vec()).unwrap_or_default());

/// The description of a column.
pub(super) fn described(column: Column) -> Result<ColumnDescPtr, ParquetError> {
    let missing = || ParquetError::General(format!("the column `{}` has no type", column.as_str()));
    DESCRIPTIONS.get(column as usize).cloned().ok_or_else(missing)
}

fn field(column: Column) -> Result<TypePtr, ParquetError> {
    let number = |logical| {
        let number = Type::primitive_type_builder(column.as_str(), Physical::INT64);
        number.with_repetition(Repetition::REQUIRED).with_logical_type(logical)
    };
    let (digits, behind) = DIGITS;
    let field = match column.kind() {
        ColumnKind::Text => Type::primitive_type_builder(column.as_str(), Physical::BYTE_ARRAY)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(Some(LogicalType::String)),
        ColumnKind::Number => number(None),
        ColumnKind::Duration => {
            number(Some(LogicalType::decimal(behind, digits))).with_precision(digits).with_scale(behind)
        }
        ColumnKind::Moment => number(Some(LogicalType::timestamp(true, TimeUnit::MILLIS))),
        ColumnKind::Id => number(Some(LogicalType::integer(64, false))),
    };
    Ok(Arc::new(field.build()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_a_type_in_parquet() {
        let names = Column::ALL.iter().map(|column| described(*column).unwrap().name().to_owned());
        assert_eq!(names.collect::<Vec<_>>(), Column::ALL.iter().map(|column| column.as_str()).collect::<Vec<_>>());
    }
}
