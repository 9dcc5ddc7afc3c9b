//! Settings that the store keeps without interpreting them, byte for byte.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// The fields of a JSON object in their order, each with its name and the text of its value. The crate `repository` writes and
/// reads them.
#[derive(Clone, Default)]
pub struct OpaqueSettings(Vec<(String, Box<RawValue>)>);

impl OpaqueSettings {
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), &**value))
    }

    /// Reads the value of a field and adds it.
    pub(crate) fn push<'de, A: MapAccess<'de>>(&mut self, name: String, map: &mut A) -> Result<(), A::Error> {
        let mut text = String::new();
        map.next_value_seed(Transcriber(&mut text))?;
        self.0.push((name, RawValue::from_string(text).map_err(A::Error::custom)?));
        Ok(())
    }
}

impl PartialEq for OpaqueSettings {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
            && self.0.iter().zip(&other.0).all(|(mine, theirs)| mine.0 == theirs.0 && mine.1.get() == theirs.1.get())
    }
}

impl Eq for OpaqueSettings {}

impl fmt::Debug for OpaqueSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.fields().map(|(name, value)| (name, value.get()))).finish()
    }
}

/// Writes the JSON text of a value while it is read, with its fields in their order. [`RawValue`] cannot be read here, because a row of
/// the journal is flattened and therefore buffered by serde.
struct Transcriber<'a>(&'a mut String);

impl Transcriber<'_> {
    fn put<E: Error>(self, value: &impl serde::Serialize) -> Result<(), E> {
        self.0.push_str(&serde_json::to_string(value).map_err(E::custom)?);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Transcriber<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Transcriber<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.put(&value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.put(&value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.put(&value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.put(&value)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.put(&value)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.put(&())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        self.0.push('[');
        let start = self.0.len();
        loop {
            let end = self.0.len();
            if end > start {
                self.0.push(',');
            }
            if values.next_element_seed(Transcriber(self.0))?.is_none() {
                self.0.truncate(end);
                break;
            }
        }
        self.0.push(']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        self.0.push('{');
        let start = self.0.len();
        while let Some(name) = fields.next_key::<String>()? {
            if self.0.len() > start {
                self.0.push(',');
            }
            Transcriber(self.0).put(&name)?;
            self.0.push(':');
            fields.next_value_seed(Transcriber(self.0))?;
        }
        self.0.push('}');
        Ok(())
    }
}
