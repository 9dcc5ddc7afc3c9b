//! The forms in which parts of a finding are stored.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use telemetry::EventId;

/// A value of a closed list, which is stored by its name.
pub(super) trait Named: Copy + 'static {
    /// All values.
    const LIST: &'static [Self];
    /// The name of this one.
    fn name(self) -> &'static str;
}

/// A value of a closed list by its name.
pub(super) mod name {
    use super::{Deserialize, Deserializer, Named, Serializer, de};

    pub(crate) fn serialize<T: Named, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(value.name())
    }

    pub(crate) fn deserialize<'de, T: Named, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        let name = String::deserialize(from)?;
        let named = T::LIST.iter().find(|value| value.name() == name);
        named.copied().ok_or_else(|| de::Error::custom(format!("`{name}` is unknown")))
    }
}

/// The id of an event as text.
pub(super) mod event {
    use super::{Deserialize, Deserializer, EventId, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(event: &Option<EventId>, to: S) -> Result<S::Ok, S::Error> {
        event.map(|event| event.to_string()).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<EventId>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        // An id that cannot be read is no reason to lose the rest.
        Ok(text.and_then(|text| EventId::read(&text)))
    }
}
