//! Nested and encoded types: their children, and columns decoded to plain values.

use arrow_array::{Array, ArrayRef};
use arrow_cast::cast;
use arrow_schema::DataType;

use crate::error::Result;

/// The direct child types of a type; the only child of an encoded type is that of its values.
pub(crate) fn children(data_type: &DataType) -> Vec<&DataType> {
    match data_type {
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _)
        | DataType::RunEndEncoded(_, field) => vec![field.data_type()],
        DataType::Struct(fields) => fields.iter().map(|field| field.data_type()).collect(),
        DataType::Union(fields, _) => fields.iter().map(|(_, field)| field.data_type()).collect(),
        DataType::Dictionary(_, values) => vec![values],
        _ => Vec::new(),
    }
}

/// The type of the values, if the type encodes them.
fn encoded_values(data_type: &DataType) -> Option<&DataType> {
    match data_type {
        DataType::Dictionary(_, values) => Some(values),
        DataType::RunEndEncoded(_, values) => Some(values.data_type()),
        _ => None,
    }
}

/// The value type of a dictionary or run-end-encoded type, however often it is encoded; any other type unchanged.
pub(crate) fn decoded_type(data_type: &DataType) -> &DataType {
    encoded_values(data_type).map_or(data_type, decoded_type)
}

/// The column as an array of [`decoded_type`].
///
/// # Errors
/// Arrow cannot decode it.
pub(crate) fn decode(column: &ArrayRef) -> Result<ArrayRef> {
    match encoded_values(column.data_type()) {
        Some(values) => decode(&cast(column, values)?),
        None => Ok(column.clone()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::types::{Int8Type, Int32Type};
    use arrow_array::{DictionaryArray, Int32Array, Int64Array, RunArray};

    use super::*;

    #[test]
    fn every_encoding_is_decoded() {
        let plain: ArrayRef = Arc::new(Int64Array::from(vec![Some(5), Some(5), None, Some(7)]));
        let values: ArrayRef = Arc::new(Int64Array::from(vec![Some(5), None, Some(7)]));
        let dictionary = DictionaryArray::<Int8Type>::new(vec![0_i8, 0, 1, 2].into(), values.clone());
        let ends = Int32Array::from(vec![2, 3, 4]);
        let runs = RunArray::<Int32Type>::try_new(&ends, &values).unwrap();
        let values = DictionaryArray::<Int8Type>::new(vec![0_i8, 1, 2].into(), values);
        let runs_of_dictionary = RunArray::<Int32Type>::try_new(&ends, &values).unwrap();
        let columns: [ArrayRef; 4] =
            [plain.clone(), Arc::new(dictionary), Arc::new(runs), Arc::new(runs_of_dictionary)];
        for column in columns {
            assert_eq!(decoded_type(column.data_type()), &DataType::Int64);
            assert_eq!(&decode(&column).unwrap(), &plain, "{}", column.data_type());
        }
    }
}
