//! A finished event that is still packed: its figures by reference, and its texts borrowed from the buffer.

use crate::{
    Because, Class, Event, EventId, Kind, Layer, MemberRecord, Millis, More, Op, Outcome, Reason, Subject, Tally, Tick,
};

/// The fields of an event that have a fixed size.
#[derive(Debug, Clone, Copy)]
pub struct Figures {
    /// [`Event::id`].
    pub id: EventId,
    /// [`Event::kind`].
    pub kind: Kind,
    /// [`Event::layer`].
    pub layer: Layer,
    /// [`Event::outcome`].
    pub outcome: Option<Outcome>,
    /// [`Event::reason`].
    pub reason: Option<Reason>,
    /// [`Event::class`].
    pub class: Option<Class>,
    /// [`Event::status`].
    pub status: u16,
    /// [`Event::at`].
    pub at: Millis,
    /// [`Event::began`].
    pub began: Tick,
    /// [`Event::method`].
    pub method: &'static str,
    /// [`Event::protocol`].
    pub protocol: &'static str,
    /// The kind of file or operation, of [`Event::subject`].
    pub file: &'static str,
    /// [`Event::bytes_in`].
    pub bytes_in: u64,
    /// [`Event::bytes_out`].
    pub bytes_out: u64,
    /// [`Event::first_byte`].
    pub first_byte: u64,
    /// [`Event::duration`].
    pub duration: u64,
}

impl Figures {
    /// The figures of an event.
    #[inline]
    pub fn of(event: &Event) -> Self {
        Self {
            id: event.id,
            kind: event.kind,
            layer: event.layer,
            outcome: event.outcome,
            reason: event.reason,
            class: event.class,
            status: event.status,
            at: event.at,
            began: event.began,
            method: event.method,
            protocol: event.protocol,
            file: event.subject.kind,
            bytes_in: event.bytes_in,
            bytes_out: event.bytes_out,
            first_byte: event.first_byte,
            duration: event.duration,
        }
    }

    /// An event with these fields. The others are empty.
    pub(crate) fn event(&self) -> Event {
        Event {
            id: self.id,
            kind: self.kind,
            layer: self.layer,
            outcome: self.outcome,
            reason: self.reason,
            class: self.class,
            status: self.status,
            at: self.at,
            began: self.began,
            method: self.method,
            protocol: self.protocol,
            subject: Subject { kind: self.file, ..Subject::default() },
            bytes_in: self.bytes_in,
            bytes_out: self.bytes_out,
            first_byte: self.first_byte,
            duration: self.duration,
            ..Event::default()
        }
    }
}

/// A finished event that is still packed. The texts are those of the fields of [`Event`] with the same names.
#[derive(Debug, Clone, Copy)]
pub struct Glance<'a> {
    /// The fields of fixed size.
    pub figures: &'a Figures,
    /// The requested path.
    pub path: &'a str,
    /// The name of the token.
    pub token: &'a str,
    /// Details for operators.
    pub detail: &'a str,
    /// The name of the repository.
    pub repository: &'a str,
    /// The package.
    pub package: &'a str,
    /// The version.
    pub version: &'a str,
    /// The address of the client.
    pub client: &'a str,
    /// The user agent.
    pub agent: &'a str,
    /// The ops that ran.
    pub ops: &'a [(Op, Tally)],
    /// The members that were queried.
    pub members: &'a [MemberRecord],
    /// What an answer from memory does not have.
    pub more: Option<&'a More>,
    /// Whether the event before it in the buffer was for the same repository. The first one is compared with none, so it is `true` there
    /// for an event without a repository.
    pub same_repository: bool,
}

impl<'a> Glance<'a> {
    /// An event that is not packed.
    pub fn of(event: &'a Event, figures: &'a Figures) -> Self {
        Self {
            figures,
            path: &event.path,
            token: &event.token,
            detail: &event.detail,
            repository: &event.subject.repository,
            package: &event.subject.package,
            version: &event.subject.version,
            client: &event.client,
            agent: &event.agent,
            ops: &event.ops,
            members: &event.members,
            more: event.more.as_deref(),
            same_repository: false,
        }
    }

    /// A copy that is not packed, without secrets.
    pub(crate) fn to_event(self) -> Event {
        let (repository, package, version) = (self.repository.into(), self.package.into(), self.version.into());
        let mut event = Event {
            path: self.path.to_owned(),
            subject: Subject { repository, package, version, kind: self.figures.file },
            client: self.client.into(),
            agent: self.agent.into(),
            token: self.token.to_owned(),
            detail: self.detail.to_owned(),
            members: self.members.to_vec(),
            more: self.more.cloned().map(Box::new),
            ops: self.ops.into(),
            ..self.figures.event()
        };
        event.hide_secrets();
        event
    }

    /// Whether it is a request that was answered by a lookup in memory, or in the store of an application's pages.
    pub fn is_hit(&self) -> bool {
        let layer = self.figures.layer;
        self.figures.kind == Kind::Request
            && matches!(layer, Layer::Page | Layer::Open | Layer::AppCache | Layer::AppPages)
    }

    /// Whether it is a request for an application. A hit from memory has only the layer.
    pub(crate) fn is_for_app(&self) -> bool {
        matches!(self.figures.layer, Layer::App | Layer::AppCache | Layer::AppPages)
            || self.figures.class == Some(Class::Apps)
    }

    /// Whether somebody may ask for an explanation: it failed, was shed or slow, or a member did not answer reliably.
    pub fn is_trouble(&self) -> bool {
        self.trouble().is_some()
    }

    /// Why somebody may ask for an explanation of it.
    pub fn trouble(&self) -> Option<Because> {
        trouble(self.figures.outcome, self.figures.first_byte, self.members)
    }
}

/// A request is slow if its first byte took longer than this, in nanoseconds: a second.
pub(crate) const SLOW: u64 = 1_000_000_000;

/// Why an event with these parts may need an explanation.
pub(crate) fn trouble(outcome: Option<Outcome>, first_byte: u64, members: &[MemberRecord]) -> Option<Because> {
    if matches!(outcome, Some(Outcome::Failed | Outcome::Shed)) {
        Some(Because::Failed)
    } else if members.iter().any(|member| member.said.is_unsure()) {
        Some(Because::Member)
    } else {
        (first_byte > SLOW).then_some(Because::Slow)
    }
}
