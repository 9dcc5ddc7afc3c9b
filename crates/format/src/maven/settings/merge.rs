//! Adds the settings for a repository to a settings file that a user has: nothing of the user's is changed or removed.

use super::outline::Node;
use super::route::{host, is_proxied, takes};
use super::splice::Splice;
use std::borrow::Cow;

/// The longest settings file that is read, in bytes.
pub const SETTINGS_LONGEST: usize = 1 << 20;
/// The lists that settings for a repository have entries in, with the names of these.
const LISTS: [(&str, &str); 4] =
    [("servers", "server"), ("mirrors", "mirror"), ("profiles", "profile"), ("activeProfiles", "activeProfile")];

/// A settings file with the settings of a repository.
#[derive(Debug, PartialEq, Eq)]
pub struct Merged {
    /// The file.
    pub bytes: Vec<u8>,
    /// The added parts, in order. None: the file has the settings already.
    pub added: Vec<Added>,
    /// What the user should know about settings that stay, and about the way of requests, a sentence each.
    pub notes: Vec<String>,
}

/// Lines that were added.
#[derive(Debug, PartialEq, Eq)]
pub struct Added {
    /// The line of the former file after which they stand, or in which.
    pub after: usize,
    /// The lines.
    pub text: String,
}

/// Why settings cannot be added to a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unmerged {
    /// The file is too long.
    #[error("it is longer than {} MiB", SETTINGS_LONGEST >> 20)]
    Long,
    /// The file is in an encoding that is not edited.
    #[error("it is neither UTF-8 nor Latin-1")]
    Encoding,
    /// The file is no settings file.
    #[error("line {line}: {why}")]
    Broken {
        /// The line, from 1.
        line: usize,
        /// The reason.
        why: String,
    },
    /// The settings that were to be added are none.
    #[error("the server's settings are no settings for Maven: {0}")]
    Offered(String),
    /// The file has settings that the new ones would contradict.
    #[error("{}", .0.join("\n"))]
    Conflicts(Vec<String>),
}

/// Adds the entries of `offered` to `file` that it lacks. An entry is known by its id. Secrets of `file` are in no message.
///
/// # Errors
/// The file cannot be read, or says something else about an id or about a repository.
pub fn merge(file: &[u8], offered: &str) -> Result<Merged, Unmerged> {
    if file.len() > SETTINGS_LONGEST {
        return Err(Unmerged::Long);
    }
    let text = decoded(file)?;
    let line = |place: usize| 1 + text.bytes().take(place).filter(|byte| *byte == b'\n').count();
    let user = Node::read(&text).map_err(|(place, why)| Unmerged::Broken { line: line(place), why })?;
    let ours = Node::read(offered).map_err(|(_, why)| Unmerged::Offered(why))?;
    let (mut conflicts, mut notes, mut splice) = (Vec::new(), Vec::new(), Splice::new(&text, &user));
    for (list, entry) in LISTS {
        let mut known = user.each(list);
        let known = match (known.next(), known.next()) {
            (_, Some(second)) => {
                return Err(Unmerged::Broken { line: line(second.all.start), why: format!("a second `<{list}>`") });
            }
            (known, None) => known,
        };
        let theirs = || known.into_iter().flat_map(|list| list.each(entry));
        let mut missing = Vec::new();
        for new in ours.each(list).flat_map(|list| list.each(entry)) {
            match theirs().find(|old| id(old) == id(new)) {
                None => missing.push(&offered[new.all.clone()]),
                Some(old) if old.says_the_same(new) => {}
                Some(old) => {
                    let at = format!("line {}: `<{entry}>` `{}`", line(old.all.start), id(new));
                    match is_of(old, new, &user, &ours) {
                        true => notes.push(format!("{at} stays as it is")),
                        false => conflicts.push(format!("{at} is there already, and is about something else")),
                    }
                }
            }
        }
        if entry == "mirror" {
            if !missing.is_empty() {
                notes.extend(taken(&user, &ours, line));
            }
            for mirror in theirs().filter(|mirror| ours_named(&ours, id(mirror)).is_none()) {
                let at = format!("line {}: the mirror `{}`", line(mirror.all.start), id(mirror));
                match repositories(&ours).find(|one| takes(mirror, one.text_of("id"), one.text_of("url"))) {
                    Some(taken) => conflicts.push(format!(
                        "{at} (`<mirrorOf>{}</mirrorOf>`) takes the repository `{}`, and Maven uses one mirror for each repository",
                        mirror.text_of("mirrorOf"),
                        taken.text_of("id"),
                    )),
                    None if missing.is_empty() => {}
                    None => notes.push(format!("{at} stays, for `{}`", mirror.text_of("mirrorOf"))),
                }
            }
        }
        splice.add(known, list, &missing);
    }
    if !conflicts.is_empty() {
        return Err(Unmerged::Conflicts(conflicts));
    }
    notes.extend(proxied(&user, &ours, line));
    let (merged, added) = splice.done();
    let added = added.into_iter().map(|(place, text)| Added { after: line(place), text }).collect();
    let bytes = encoded(merged, matches!(text, Cow::Owned(_)))?;
    Ok(Merged { bytes, added, notes })
}

/// The user's repositories that our mirror will take.
fn taken(user: &Node, ours: &Node, line: impl Fn(usize) -> usize) -> Vec<String> {
    let is_taken = |settings: &Node, one: &Node| {
        mirrors(settings)
            .find(|mirror| takes(mirror, one.text_of("id"), one.text_of("url")))
            .map(|mirror| id(mirror).to_owned())
    };
    let known: Vec<&str> = places(ours).map(|place| place.text_of("url")).collect();
    let others = repositories(user).filter(|one| !known.contains(&one.text_of("url")) && is_taken(user, one).is_none());
    let said = others.filter_map(|one| {
        let by = is_taken(ours, one)?;
        Some(format!(
            "line {}: `{}` now comes from `{by}`, which must have its files",
            line(one.all.start),
            one.text_of("id")
        ))
    });
    said.collect()
}

/// The proxies that Maven would send our requests to.
fn proxied(user: &Node, ours: &Node, line: impl Fn(usize) -> usize) -> Vec<String> {
    let Some(url) = places(ours).map(|place| place.text_of("url")).next() else { return Vec::new() };
    let said = |proxy: &Node| {
        let (at, to, host) = (line(proxy.all.start), proxy.text_of("host"), host(url));
        format!(
            "line {at}: add `|{host}` to `<nonProxyHosts>`, or Maven sends requests for `{host}` and its token to the proxy `{to}`"
        )
    };
    let proxies = user.each("proxies").flat_map(|list| list.each("proxy"));
    proxies.filter(|proxy| is_proxied(proxy, url)).map(said).collect()
}

/// What tells an entry from others of its list.
fn id(entry: &Node) -> &str {
    if entry.children.is_empty() { entry.text() } else { entry.text_of("id") }
}

fn ours_named<'a>(ours: &'a Node, name: &str) -> Option<&'a Node> {
    mirrors(ours).find(|mirror| id(mirror) == name)
}

fn mirrors(settings: &Node) -> impl Iterator<Item = &Node> {
    settings.each("mirrors").flat_map(|list| list.each("mirror"))
}

/// The repositories and mirrors that settings name.
fn places(settings: &Node) -> impl Iterator<Item = &Node> {
    mirrors(settings).chain(repositories(settings))
}

/// The repositories of profiles, also those of plugins.
fn repositories(settings: &Node) -> impl Iterator<Item = &Node> {
    let profiles = settings.each("profiles").flat_map(|list| list.each("profile"));
    profiles.flat_map(|profile| &profile.children).flat_map(|list| match list.name.as_str() {
        "repositories" => list.each("repository"),
        _ => list.each("pluginRepository"),
    })
}

/// Whether an entry of the user's is about the same repository as ours with its id: its URL is ours, or for a `<server>` the URL of a
/// place with its id. Then the user has changed settings that came from here.
fn is_of(old: &Node, new: &Node, user: &Node, ours: &Node) -> bool {
    let urls = |entry: &Node| -> Vec<String> {
        let lists = entry.each("repositories").flat_map(|list| list.each("repository"));
        lists.chain([entry]).map(|one| one.text_of("url").to_owned()).filter(|url| !url.is_empty()).collect()
    };
    if old.name != "server" {
        return urls(old).iter().any(|url| urls(new).contains(url));
    }
    let named = |settings| -> Vec<&str> {
        places(settings).filter(|place| place.text_of("id") == id(new)).map(|place| place.text_of("url")).collect()
    };
    let ours = named(ours);
    named(user).iter().any(|url| ours.contains(url))
}

/// UTF-8, or else Latin-1 where the file declares it or does not say.
fn decoded(file: &[u8]) -> Result<Cow<'_, str>, Unmerged> {
    match std::str::from_utf8(file) {
        Ok(text) => Ok(text.into()),
        Err(_) if file.starts_with(&[0xff, 0xfe]) || file.starts_with(&[0xfe, 0xff]) => Err(Unmerged::Encoding),
        Err(_) => Ok(file.iter().copied().map(char::from).collect::<String>().into()),
    }
}

fn encoded(text: String, is_latin: bool) -> Result<Vec<u8>, Unmerged> {
    if !is_latin {
        return Ok(text.into_bytes());
    }
    text.chars().map(|character| u8::try_from(character).map_err(|_| Unmerged::Encoding)).collect()
}

#[cfg(test)]
mod tests;
