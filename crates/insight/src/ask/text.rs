//! The short text form: `p95(duration_ms), count by package where layer = group and status >= 500 from -1h per 1m top 10`.

use super::draft::{At, Draft, TESTS_MAX};
use super::mistake::{Mistake, Position};
use super::names::{self, clipped, nearest};
use super::question::{Filter, Is, Measure, Question};
use super::tokens::{self, Token};
use super::{times, value};
use telemetry::Millis;

/// The words that begin a part of a question.
const CLAUSES: &[&str] = &["by", "where", "from", "to", "per", "order", "top", "compare", "wait"];
/// The deepest nesting of a filter.
pub(super) const DEPTH_MAX: usize = 16;

impl Question {
    /// Reads the text form. `now`: the present moment, from which times such as `-1h` are counted.
    pub fn from_text(text: &str, now: Millis) -> Result<Self, Mistake> {
        let mut reader = Reader::new(text, None, now)?;
        let draft = reader.draft()?;
        draft.check(now)
    }
}

impl Filter {
    /// Reads the part of the text form behind `where`. Without a word it is the filter that every event passes.
    pub fn from_text(text: &str, now: Millis) -> Result<Self, Mistake> {
        Self::from_part(text, None, now)
    }

    /// Reads a filter in the text form, which is a part of the JSON form.
    pub(super) fn from_part(text: &str, part: Option<&str>, now: Millis) -> Result<Self, Mistake> {
        let mut reader = Reader::new(text, part, now)?;
        if reader.peek().is_none() {
            return Ok(Filter::All(Vec::new()));
        }
        let filter = reader.any(0)?;
        reader.end(&["and", "or"])?;
        Ok(filter)
    }
}

/// Reads a measure of the JSON form.
pub(super) fn measure(text: &str, part: &str, now: Millis) -> Result<Measure, Mistake> {
    let mut reader = Reader::new(text, Some(part), now)?;
    let measure = reader.measure()?;
    reader.end(&[])?;
    Ok(measure)
}

/// Reads the order of the JSON form: a measure, with `-` before it if the largest is the first.
pub(super) fn order(text: &str, part: &str, now: Millis) -> Result<(Measure, bool), Mistake> {
    let mut reader = Reader::new(text, Some(part), now)?;
    let order = reader.order()?;
    reader.end(&[])?;
    Ok(order)
}

/// Reads tokens one after the other.
struct Reader<'a> {
    tokens: std::iter::Peekable<std::vec::IntoIter<(usize, Token)>>,
    part: Option<&'a str>,
    now: Millis,
    tests: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &str, part: Option<&'a str>, now: Millis) -> Result<Self, Mistake> {
        Ok(Self { tokens: tokens::read(text, part)?.into_iter().peekable(), part, now, tests: 0 })
    }

    fn peek(&mut self) -> Option<&Token> {
        self.tokens.peek().map(|(_, token)| token)
    }

    /// The next word, if it has no quotes.
    fn bare(&mut self) -> Option<&str> {
        match self.peek()? {
            Token::Word { text, quoted: false } => Some(text),
            _ => None,
        }
    }

    /// The place of the next token.
    fn place(&mut self) -> Position {
        let part = self.part.map(Into::into);
        match self.tokens.peek() {
            Some((at, _)) => Position::Character(*at, part),
            None => Position::End(part),
        }
    }

    fn takes(&mut self, token: &Token) -> bool {
        self.tokens.next_if(|(_, next)| next == token).is_some()
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let takes = self.bare() == Some(word);
        if takes {
            self.tokens.next();
        }
        takes
    }

    /// A mistake at the next token, where something else is expected.
    fn expected(&mut self, what: &str) -> Mistake {
        let found = self.peek().map(|token| clipped(token.shown()));
        let found = found.map_or_else(String::new, |found| format!(", not `{found}`"));
        Mistake::new(&self.place(), format!("expected {what}{found}"))
    }

    /// The next word, with its place.
    fn word(&mut self, what: &str) -> Result<At<String>, Mistake> {
        let place = self.place();
        match self.tokens.next_if(|(_, token)| matches!(token, Token::Word { .. })) {
            Some((_, Token::Word { text, .. })) => Ok((text, place)),
            _ => Err(self.expected(what)),
        }
    }

    fn close(&mut self) -> Result<(), Mistake> {
        if self.takes(&Token::Close) { Ok(()) } else { Err(self.expected("`)`")) }
    }

    /// Fails if there is something left. `known`: the words that might go on here.
    fn end(&mut self, known: &[&str]) -> Result<(), Mistake> {
        if self.peek().is_none() {
            return Ok(());
        }
        let list = known.iter().map(|word| format!("`{word}`")).chain(["the end".to_owned()]).collect::<Vec<_>>();
        let near = self.bare().and_then(|word| nearest(word, known));
        Err(self.expected(&list.join(", ")).meant(near))
    }

    fn draft(&mut self) -> Result<Draft, Mistake> {
        let mut draft = Draft::default();
        let mut seen: Vec<String> = Vec::new();
        if self.peek().is_some() && !self.bare().is_some_and(|word| CLAUSES.contains(&word)) {
            draft.measures = self.list(Self::measure)?;
        }
        while let Some(clause) = self.bare().filter(|word| CLAUSES.contains(word)).map(str::to_owned) {
            let place = self.place();
            self.tokens.next();
            if seen.contains(&clause) {
                return Err(Mistake::new(&place, format!("`{clause}` was named before")));
            }
            match clause.as_str() {
                "by" => draft.by = self.list(Self::key)?,
                "where" => draft.filter = Some(self.any(0)?),
                "from" => draft.from = Some(self.word("a moment")?),
                "to" => draft.to = Some(self.word("a moment")?),
                "per" => draft.per = Some(self.word("a time such as `1m`")?),
                "order" => draft.order = Some((self.order()?, place)),
                "top" => draft.limit = Some(self.number()?),
                "compare" => draft.compare = Some(self.word("`rest`, or a time such as `-1d`")?),
                _ => draft.wait_ms = Some(self.wait()?),
            }
            seen.push(clause);
        }
        let left: Vec<&str> =
            CLAUSES.iter().copied().filter(|clause| !seen.iter().any(|seen| seen == clause)).collect();
        self.end(&left)?;
        Ok(draft)
    }

    /// Items with commas between them.
    fn list<T>(&mut self, item: impl Fn(&mut Self) -> Result<T, Mistake>) -> Result<Vec<At<T>>, Mistake> {
        let mut items = Vec::new();
        loop {
            let place = self.place();
            items.push((item(self)?, place));
            if !self.takes(&Token::Comma) {
                return Ok(items);
            }
        }
    }

    fn key(&mut self) -> Result<super::question::Key, Mistake> {
        let (name, place) = self.word("a column")?;
        names::key(&name, &place)
    }

    fn number(&mut self) -> Result<At<u64>, Mistake> {
        let (text, place) = self.word("a number")?;
        match text.parse() {
            Ok(number) => Ok((number, place)),
            Err(_) => Err(Mistake::new(&place, format!("expected a number, not `{}`", clipped(&text)))),
        }
    }

    fn wait(&mut self) -> Result<At<u64>, Mistake> {
        let (text, place) = self.word("a time such as `1s`")?;
        match times::stretch(&text) {
            Some(wait) => Ok((wait, place)),
            None => Err(Mistake::new(&place, format!("`{}` is no time: write {}", clipped(&text), times::STRETCH))),
        }
    }

    fn measure(&mut self) -> Result<Measure, Mistake> {
        let (name, place) = self.word("a measure, such as `count`")?;
        self.measure_of(&name, &place)
    }

    /// The measure whose name was read.
    fn measure_of(&mut self, name: &str, place: &Position) -> Result<Measure, Mistake> {
        if !self.takes(&Token::Open) {
            if name == "share" {
                return Err(Mistake::new(place, "`share` needs a filter: `share(status >= 500)`"));
            }
            return names::measure(name, None, place);
        }
        let measure = if name == "share" {
            Measure::Share(self.any(0)?)
        } else {
            let (of, of_place) = self.word("a column")?;
            names::measure(name, Some((&of, &of_place)), place)?
        };
        self.close()?;
        Ok(measure)
    }

    fn order(&mut self) -> Result<(Measure, bool), Mistake> {
        let (name, place) = self.word("a measure")?;
        let largest_first = name.strip_prefix('-');
        // It repeats one of the measures, whose comparisons were counted.
        let tests = std::mem::take(&mut self.tests);
        let measure = self.measure_of(largest_first.unwrap_or(&name), &place)?;
        self.tests = tests;
        Ok((measure, largest_first.is_none()))
    }

    /// Filters with `or` between them.
    fn any(&mut self, depth: usize) -> Result<Filter, Mistake> {
        let mut filters = vec![self.all(depth)?];
        while self.takes_word("or") {
            filters.push(self.all(depth)?);
        }
        Ok(Filter::any(filters))
    }

    /// Filters with `and` between them.
    fn all(&mut self, depth: usize) -> Result<Filter, Mistake> {
        let mut filters = vec![self.one(depth)?];
        while self.takes_word("and") {
            filters.push(self.one(depth)?);
        }
        Ok(Filter::all(filters))
    }

    fn one(&mut self, depth: usize) -> Result<Filter, Mistake> {
        if depth == DEPTH_MAX {
            return Err(Mistake::new(&self.place(), format!("a filter is nested at most {DEPTH_MAX} deep")));
        }
        if self.takes_word("not") {
            return Ok(Filter::Not(Box::new(self.one(depth + 1)?)));
        }
        if self.takes(&Token::Open) {
            let filter = self.any(depth + 1)?;
            self.close()?;
            return Ok(filter);
        }
        self.test()
    }

    fn test(&mut self) -> Result<Filter, Mistake> {
        let place = self.place();
        self.tests += 1;
        if self.tests > TESTS_MAX {
            return Err(Mistake::new(&place, format!("a question has at most {TESTS_MAX} comparisons")));
        }
        let (name, place) = self.word("a column, `not` or `(`")?;
        let column = names::column(&name, &place)?;
        let is = self.comparison(column)?;
        let (text, place) = self.word("a value")?;
        let value = value::read(&text, column, self.now, &place)?;
        Ok(Filter::Test { column, is, value })
    }

    fn comparison(&mut self, column: crate::column::Column) -> Result<Is, Mistake> {
        let place = self.place();
        match self.tokens.next_if(|(_, token)| matches!(token, Token::Sign(_) | Token::Word { quoted: false, .. })) {
            Some((_, token)) => names::comparison(token.shown(), column, &place),
            None => Err(self.expected("a comparison, such as `=`")),
        }
    }
}
