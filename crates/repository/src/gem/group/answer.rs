//! The end of an answer of a group of gem repositories, and its refusals.

use crate::error::{Error, Result};
use crate::gem::Question;
use crate::gem::group::GroupGems;
use crate::group::is_hosted;
use telemetry::{Event, Layer};

impl GroupGems<'_> {
    /// Adds the members and, for an explanation, the owner of the name to the event of an answer.
    pub(crate) async fn finish(self, question: &Question<'_>, event: &mut Event) -> Result<()> {
        event.layer = Layer::Group;
        self.order_members(event);
        if !self.local.repository.asks {
            self.explain(question, event).await?;
        }
        Ok(())
    }

    /// The refusal of a change, with the members that accept it.
    pub(crate) fn unsupported(self) -> Error {
        let hosted = self.leaves().iter().filter(|leaf| is_hosted(leaf));
        let names: Vec<String> = hosted.map(|leaf| format!("`{}`", leaf.record.name)).collect();
        let name = &self.local.repository.record.name;
        let text = match names.is_empty() {
            true => format!("`{name}` is a group, which takes no changes, and has no hosted member"),
            false => {
                format!("`{name}` is a group, which takes no changes: its hosted members do ({})", names.join(", "))
            }
        };
        Error::Unsupported(text)
    }
}
