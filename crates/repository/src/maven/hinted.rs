//! How hints of hooks apply to a Maven repository.

use crate::hints::announcement::Announcement;
use crate::hints::hint::Hint;
use crate::upstream::hinted::HintedFiles;
use format::maven::path::METADATA;
use format::tree;

/// Hints are checked in the metadata of the artifact.
pub(crate) const FILES: HintedFiles = HintedFiles { hint, documents, about, tells };

/// The hint: an artifact, as `GROUP:ARTIFACT`, or by its folder or a file in it. A text that cannot be a path counts as
/// a hint about everything.
fn hint(said: &Announcement) -> Hint {
    let named = said.package.as_deref().and_then(|package| package.split_once(':'));
    let package = match (named, said.path.as_deref()) {
        (Some((group, artifact)), _) => format!("{}/{artifact}", group.replace('.', "/")),
        (None, Some(path)) => {
            path.trim_matches('/').strip_suffix(METADATA).unwrap_or(path).trim_matches('/').to_owned()
        }
        (None, None) => String::new(),
    };
    let version = said.version.clone().unwrap_or_default();
    match tree::check(&package) {
        Ok(()) => Hint { package, version, gone: said.gone },
        Err(_) => Hint::anything(),
    }
}

fn documents(hint: &Hint) -> Vec<String> {
    if hint.package.is_empty() {
        return Vec::new();
    }
    vec![format!("{}/{METADATA}", hint.package)]
}

/// The folder of the artifact, and the folder of the version, whose answers are cached separately.
fn about(hint: &Hint) -> Vec<String> {
    let version = format!("{}/{}", hint.package, hint.version);
    let version = (hint.is_exact() && !hint.package.is_empty() && tree::check(&version).is_ok()).then_some(version);
    [hint.package.clone()].into_iter().chain(version).collect()
}

fn tells(hint: &Hint, document: &[u8]) -> bool {
    let listed = format!("<version>{}</version>", hint.version);
    document.windows(listed.len()).any(|window| window == listed.as_bytes()) != hint.gone
}
