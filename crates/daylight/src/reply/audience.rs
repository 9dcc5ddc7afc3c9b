//! The reader of an error: the program that sent the request, and the format of the repository. Both decide about the
//! words of the hint, and `reply` uses them to choose the form of the error.

use crate::face::Words;
use crate::formats;
use http::HeaderMap;
use http::header;
use repository::Format;

/// The program that sent a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Program {
    /// A client of the format, such as `gem` or Maven.
    ClientOf(Format),
    /// A program in which a person types or clicks a URL: curl, a browser.
    Person,
    /// Any other program.
    Other,
}

/// The reader of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Audience {
    program: Program,
    /// Whether it accepts problems (RFC 9457) explicitly.
    asks_for_problems: bool,
    /// The format of the repository. `None`: the request is about no repository, or the client may not know whether it exists.
    pub(crate) format: Option<Format>,
}

/// The first characters of the `User-Agent` of programs in which people type or click URLs.
const PERSON: [&str; 4] = ["curl/", "Wget/", "HTTPie/", "Mozilla/"];

impl Audience {
    /// Reads the headers of a request.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default();
        let begins = |with: &[&str]| with.iter().any(|name| agent.starts_with(name));
        let client = Format::ALL.iter().find(|format| begins(formats::of(**format).agents));
        let program = match client {
            Some(format) => Program::ClientOf(*format),
            None if begins(&PERSON) => Program::Person,
            None => Program::Other,
        };
        let accepts = headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok());
        let mut media = accepts.flat_map(|line| line.split([',', ';']));
        let asks_for_problems = media.any(|media| media.trim() == "application/problem+json");
        Self { program, asks_for_problems, format: None }
    }

    /// The vocabulary of hints. The kind of client takes precedence over the format of the repository.
    pub(crate) fn words(self) -> Words {
        match self.program {
            Program::ClientOf(format) => Some(format),
            Program::Other => self.format,
            Program::Person => None,
        }
    }

    /// Whether it may show nothing of an error but the status and the reason phrase: Maven before 3.9, `gem install`, Bundler.
    pub(crate) fn shows_phrases(self) -> bool {
        matches!(self.program, Program::ClientOf(_))
    }

    /// Whether it prints the body of an answer unchanged to its user: `gem` and `bundle`.
    pub(crate) fn prints_bodies(self) -> bool {
        matches!(self.program, Program::ClientOf(format) if formats::of(format).prints_bodies)
    }

    /// Whether it gets a problem instead of text. A program that is no client of a format gets the form that it accepts, or otherwise the
    /// form for the clients of the repository's format.
    pub(crate) fn reads_problems(self) -> bool {
        let as_clients = |format| !formats::of(format).prints_bodies;
        match self.program {
            Program::ClientOf(format) => as_clients(format),
            Program::Person | Program::Other => self.asks_for_problems || self.format.is_some_and(as_clients),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(agent: &'static str, accept: &'static str, format: Option<Format>) -> Audience {
        let headers = [(header::USER_AGENT, agent.parse().unwrap()), (header::ACCEPT, accept.parse().unwrap())];
        Audience { format, ..Audience::of(&HeaderMap::from_iter(headers)) }
    }

    #[test]
    fn gem_and_bundle_get_text_and_build_tools_for_java_get_problems() {
        let problem = "application/problem+json";
        for format in [None, Some(Format::Gem), Some(Format::Maven), Some(Format::Raw)] {
            for agent in ["RubyGems/3.3.15 x86_64-linux", "bundler/2.3.15 rubygems/3.3.15"] {
                let it = of(agent, problem, format);
                assert_eq!((it.reads_problems(), it.words()), (false, Some(Format::Gem)), "{agent} {format:?}");
            }
            for agent in ["Apache-Maven/3.9.16 (Java 17)", "Gradle/8.5", "Coursier/2.0", "Apache Ivy/2.5.1"] {
                let it = of(agent, "*/*", format);
                assert_eq!((it.reads_problems(), it.words()), (true, Some(Format::Maven)), "{agent} {format:?}");
            }
        }
    }

    #[test]
    fn other_programs_get_what_they_ask_for_or_what_the_format_has() {
        let curl = |accept, format| of("curl/8.0", accept, format).reads_problems();
        assert!(!curl("*/*", None) && !curl("*/*", Some(Format::Gem)));
        assert!(curl("*/*", Some(Format::Maven)) && curl("*/*", Some(Format::Raw)));
        let both = "text/html, application/problem+json;q=0.5";
        assert!(curl(both, None) && curl(both, Some(Format::Gem)));
        for format in [None, Some(Format::Gem), Some(Format::Maven)] {
            assert_eq!(of("curl/8.0", "*/*", format).words(), None);
        }
        assert_eq!(of("", "*/*", Some(Format::Gem)).words(), Some(Format::Gem));
        assert_eq!(of("", "*/*", Some(Format::Maven)).words(), Some(Format::Maven));
    }
}
