//! The web pages for people: values in, HTML out. Nothing here reads a repository, a request or a clock.
//!
//! A page and the call of the admin API with the same facts are made from one value: the API serializes it, the page shows it in
//! a template. So the two cannot differ.

mod amount;
mod app_pages;
mod apps;
mod assets;
mod bars;
mod browse;
mod difference;
mod document;
mod downloads;
mod event;
mod explanation;
mod finding;
pub mod folder;
mod home;
mod links;
mod moment;
mod package;
mod packages;
mod prose;
mod question;
mod refusal;
mod report;
mod search;
mod shell;
mod sign_in;
mod version;

pub use app_pages::{AppPageServer, AppPages, PageRequests};
pub use apps::{App, AppBackend, AppLane, Apps, AppsPage, SlowPath, StoredResponses};
pub use askama::Template;
pub use assets::{Asset, CONTENT_SECURITY_POLICY, asset, has_scripts};
pub use bars::Bars;
pub use browse::{Browse, BrowseItem, BrowsePage, HiddenReason};
pub use difference::{Changed, Difference, DifferencePage, Readme, ReadmePage};
pub use document::{Document, DocumentPage, Link};
pub use downloads::{Day, Downloads, DownloadsPage};
pub use event::{EventPage, EventView, MemberBar, OpBar};
pub use explanation::{ExplainForm, ExplainPage, Explanation, HidingRule, MemberAnswer, RelatedFinding};
pub use finding::{HomeChange, HomeChecks, HomeFinding};
pub use home::{Home, HomePage, HomeRepository, HomeUpstream};
pub use links::Links;
pub use moment::Moment;
pub use package::{About, AboutLink, HiddenBy, Member, Origin, Package, PackagePage, Snippet, VersionLine};
pub use packages::{Dependent, Dependents, DependentsPage, ListedPackage, Packages, PackagesPage};
pub use question::{AnsweredQuestion, QuestionPage};
pub use refusal::{Refusal, RefusalPage};
pub use report::{
    REPORT_STYLE, Report, ReportBlock, ReportFigure, ReportFinding, ReportPage, ReportSection, ReportTable,
};
pub use search::{OpenSearch, Search, SearchPage, SearchResult};
pub use shell::{NotRendered, Shell, html};
pub use sign_in::{SignInPage, is_own_path};
pub use version::{Dependency, Parent, Requires, Version, VersionFile, VersionPage};
