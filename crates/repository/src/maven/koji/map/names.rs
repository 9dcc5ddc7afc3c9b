//! Names that many builds share: of tags, volumes and persons.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The number of a name. 0 is no name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct NameId(u32);

/// The names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    all: Vec<Arc<str>>,
    numbers: BTreeMap<Arc<str>, u32>,
}

impl Names {
    /// The number of a name, which may be new.
    pub(crate) fn number(&mut self, name: &str) -> NameId {
        if let Some(number) = self.numbers.get(name) {
            return NameId(*number);
        }
        let name: Arc<str> = name.into();
        self.all.push(name.clone());
        let number = u32::try_from(self.all.len()).unwrap_or(0);
        self.numbers.insert(name, number);
        NameId(number)
    }

    pub(crate) fn number_of(&mut self, name: Option<&str>) -> NameId {
        name.map(|name| self.number(name)).unwrap_or_default()
    }

    pub(crate) fn get(&self, of: NameId) -> Option<&str> {
        self.all.get((of.0 as usize).checked_sub(1)?).map(|name| &**name)
    }

    /// The name, as a string of its own.
    pub(crate) fn owned(&self, of: NameId) -> String {
        self.get(of).unwrap_or_default().to_owned()
    }

    /// Bytes of memory.
    pub(crate) fn weight(&self) -> usize {
        self.all.iter().map(|name| name.len() + 88).sum()
    }
}
