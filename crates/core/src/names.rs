//! Validated strings: parsed once, never checked again. A run and its events hold many and copy
//! them often: a short string, and nearly all are short, needs no heap allocation.

use std::fmt;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use unicode_normalization::{UnicodeNormalization as _, is_nfc};

use crate::invisible::{is_formatting, is_invisible};
use crate::look_alike::name_outline;

/// An agent's id, such as `reviewer`: kebab-case, with the source documents' names unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct AgentId(SmolStr);

/// A step of a workflow, such as `review`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct StepId(SmolStr);

/// The name of a workflow, such as `story-pipeline`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct WorkflowName(SmolStr);

/// What people call a story, such as `v0.1:1.1.1` or `owner/repo#123`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct StoryKey(SmolStr);

/// Why something was done, as text for the other side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason(String);

/// A question, an answer or a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FreeText(String);

/// A check of an automatic gate, such as `lint`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct CheckName(SmolStr);

/// The name of a document of the shared context, such as `api-design`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct ContextKey(SmolStr);

/// An executor, as `baton.toml` names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct ExecutorName(SmolStr);

/// A commit of the work, as its repository names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct CommitId(SmolStr);

/// The caller: a person, an agent or a program, as the API layer that took the command knows it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Principal(SmolStr);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    #[error(
        "`{name}` is not {what}: use 1 to {MOST_KEBAB_BYTES} lower-case letters and digits, joined by `-`"
    )]
    NotKebab { what: &'static str, name: String },
    #[error("`{id}` is not a commit: use its 4 to 64 hexadecimal digits")]
    NotCommit { id: String },
    #[error(
        "`{name}` is not the name of an executor: use 1 to {MOST_KEBAB_BYTES} letters, digits, `-` and `_`"
    )]
    NotExecutor { name: String },
    #[error("{what} cannot be empty")]
    Empty { what: &'static str },
    #[error("{what} has {n} {unit}; the most is {most}")]
    TooLong { what: &'static str, n: usize, unit: &'static str, most: usize },
    #[error("{what} cannot hold the invisible character U+{code:04X}")]
    Invisible { what: &'static str, code: u32 },
    #[error("a story key cannot begin with `{prefix}`, {}", StoryKey::instead_of(prefix))]
    Reserved { prefix: &'static str },
    #[error("a principal cannot begin with `baton:`: those names are for parts of Baton itself")]
    ReservedPrincipal,
}

impl NameError {
    /// A stable code: a text that people write is no name.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty { what } | Self::TooLong { what, .. } | Self::Invisible { what, .. }
                if [A_REASON, A_TEXT, A_CONTEXT].contains(what) =>
            {
                "bad_text"
            }
            Self::NotKebab { .. }
            | Self::NotCommit { .. }
            | Self::NotExecutor { .. }
            | Self::Empty { .. }
            | Self::TooLong { .. }
            | Self::Invisible { .. }
            | Self::Reserved { .. }
            | Self::ReservedPrincipal => "bad_name",
        }
    }
}

const A_REASON: &str = "a reason";
const A_TEXT: &str = "a text";
const A_CONTEXT: &str = "a context document";

const MOST_KEBAB_BYTES: usize = 64;
const MOST_KEY_BYTES: usize = 200;
/// What a reason, a reviewer's list of points for example, may have. It is kept as content; rows and
/// lists show the first [`Reason::SHOWN_CHARS`] characters of it.
const MOST_REASON_BYTES: usize = 64 * 1024;
const MOST_WORDS_CHARS: usize = 10_000;

impl AgentId {
    /// The agent id of every person: a handoff to it waits in the inbox.
    pub const HUMAN: &'static str = "human";
    /// The agent id of Baton itself: it starts runs and takes them back.
    pub const ORCHESTRATOR: &'static str = "orchestrator";
    const UNKNOWN: &'static str = "unknown";

    pub fn parse(name: &str) -> Result<Self, NameError> {
        kebab("an agent id", name).map(Self)
    }

    pub fn human() -> Self {
        Self(SmolStr::new_static(Self::HUMAN))
    }

    pub fn orchestrator() -> Self {
        Self(SmolStr::new_static(Self::ORCHESTRATOR))
    }

    /// In the place of an agent whose name cannot be an id.
    pub(crate) fn unknown() -> Self {
        Self(SmolStr::new_static(Self::UNKNOWN))
    }

    pub fn is_human(&self) -> bool {
        self.0 == Self::HUMAN
    }

    pub fn is_orchestrator(&self) -> bool {
        self.0 == Self::ORCHESTRATOR
    }
}

impl StepId {
    pub fn parse(name: &str) -> Result<Self, NameError> {
        kebab("a step name", name).map(Self)
    }
}

impl WorkflowName {
    pub fn parse(name: &str) -> Result<Self, NameError> {
        kebab("a workflow name", name).map(Self)
    }
}

impl CheckName {
    pub fn parse(name: &str) -> Result<Self, NameError> {
        kebab("the name of a check", name).map(Self)
    }
}

impl ContextKey {
    pub fn parse(name: &str) -> Result<Self, NameError> {
        kebab("the key of a context document", name).map(Self)
    }
}

impl ExecutorName {
    /// From 1 to 64 letters, digits, `-` and `_`.
    pub fn parse(name: &str) -> Result<Self, NameError> {
        let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_".contains(it);
        if (1..=MOST_KEBAB_BYTES).contains(&name.len()) && name.chars().all(is_plain) {
            return Ok(Self(name.into()));
        }
        let name = name.chars().filter(|it| !is_invisible(*it)).take(MOST_KEBAB_BYTES).collect();
        Err(NameError::NotExecutor { name })
    }
}

impl CommitId {
    /// From 4 to 64 hexadecimal digits.
    pub fn parse(id: &str) -> Result<Self, NameError> {
        let is_hex = id.bytes().all(|it| it.is_ascii_hexdigit());
        if (4..=64).contains(&id.len()) && is_hex {
            return Ok(Self(id.to_ascii_lowercase().into()));
        }
        let id = id.chars().filter(|it| !is_invisible(*it)).take(MOST_KEBAB_BYTES).collect();
        Err(NameError::NotCommit { id })
    }
}

impl StoryKey {
    /// A stored key, including keys that are older than [`StoryKey::typed`].
    pub fn parse(key: &str) -> Result<Self, NameError> {
        stored("a story key", key).map(Self)
    }

    /// A key from a caller: normalized (NFC), trimmed, and without invisible characters.
    pub fn typed(text: &str) -> Result<Self, NameError> {
        let key = StoryKey(normal("a story key", text)?);
        match Self::PREFIXES.iter().find(|it| key.as_str().starts_with(**it)) {
            Some(prefix) => Err(NameError::Reserved { prefix }),
            None => Ok(key),
        }
    }

    /// Prefixes that mark the kind of a name. New keys must not begin with one.
    pub const PREFIXES: [&'static str; 3] =
        [Self::RUN_PREFIX, Self::STORY_PREFIX, Self::HANDOFF_PREFIX];
    pub const RUN_PREFIX: &'static str = "run:";
    pub const STORY_PREFIX: &'static str = "story:";
    pub const HANDOFF_PREFIX: &'static str = "handoff:";

    /// A run's number is not its story's key: the text behind the prefix is a valid key only for
    /// `story:`.
    fn instead_of(prefix: &str) -> &'static str {
        match prefix {
            Self::RUN_PREFIX => "which names a run; `baton run show` says which story a run is for",
            Self::HANDOFF_PREFIX => {
                "which names a handoff; `baton handoff show` says which story a handoff is for"
            }
            _ => "which says that a story's key follows; write the key alone",
        }
    }
}

impl Principal {
    /// A stored name.
    pub fn parse(name: &str) -> Result<Self, NameError> {
        stored("a principal", name).map(Self)
    }

    /// A name from a caller; see [`StoryKey::typed`]. Baton's own parts have names that no caller
    /// may use.
    pub fn typed(text: &str) -> Result<Self, NameError> {
        let name = normal("a principal", text)?;
        // In another spelling it would be taken for one of them all the same.
        let is_plain = name.is_ascii() && !name.contains(':');
        if !is_plain && name_outline(&name).starts_with(&name_outline(Self::OWN_PREFIX)) {
            return Err(NameError::ReservedPrincipal);
        }
        Ok(Self(name))
    }

    /// An agent under its own name.
    pub fn of_agent(agent: &AgentId) -> Self {
        Self(SmolStr::new(agent.as_str()))
    }

    /// Of a caller that states no name.
    pub const UNNAMED: &'static str = "local";
    /// Of a runner as a program, which is no person either.
    pub const RUNNER: &'static str = "runner";
    /// Of the names of Baton's own parts, such as `baton:sweeper`.
    pub const OWN_PREFIX: &'static str = "baton:";
    /// Of the names that agents are given by runners, such as `agent:reviewer`.
    pub const AGENT_PREFIX: &'static str = "agent:";
}

impl FreeText {
    pub fn parse(words: &str) -> Result<Self, NameError> {
        bounded(A_TEXT, words, MOST_WORDS_CHARS).map(Self)
    }

    /// As [`FreeText::parse`], for text out of a document: cut rather than refused. Where it is cut, its
    /// end says so, and where the rest is.
    pub fn shortened(words: &str, rest: &str) -> Option<Self> {
        let words = words.trim();
        let note = format!(" … [cut here: {rest}]");
        let most = MOST_WORDS_CHARS - note.chars().count();
        let is_long = words.chars().count() > MOST_WORDS_CHARS;
        let end = words.char_indices().nth(most).filter(|_| is_long).map(|(end, _)| end);
        match end {
            Some(end) => Self::parse(&format!("{}{note}", &words[..end])).ok(),
            None => Self::parse(words).ok(),
        }
    }

    /// As a reason, whole: a reason may be longer than this text.
    pub fn to_reason(&self) -> Option<Reason> {
        Reason::shortened(&self.0)
    }
}

impl Reason {
    /// How much of a reason a list shows; one handoff by itself shows all of it.
    pub const SHOWN_CHARS: usize = 1000;
    /// The most bytes that a reason may have.
    pub const MOST_BYTES: usize = MOST_REASON_BYTES;

    pub fn parse(reason: &str) -> Result<Self, NameError> {
        let n = reason.trim().len();
        if n > MOST_REASON_BYTES {
            let (what, most) = (A_REASON, MOST_REASON_BYTES);
            return Err(NameError::TooLong { what, n, unit: "bytes", most });
        }
        bounded(A_REASON, reason, MOST_REASON_BYTES).map(Self)
    }

    /// As [`Reason::parse`], for the text of a context document.
    pub fn of_context(text: &str) -> Result<Self, NameError> {
        Self::parse(text).map_err(|error| match error {
            NameError::Empty { .. } => NameError::Empty { what: A_CONTEXT },
            NameError::TooLong { n, unit, most, .. } => {
                NameError::TooLong { what: A_CONTEXT, n, unit, most }
            }
            NameError::Invisible { code, .. } => NameError::Invisible { what: A_CONTEXT, code },
            other @ (NameError::NotKebab { .. }
            | NameError::NotCommit { .. }
            | NameError::NotExecutor { .. }
            | NameError::Reserved { .. }
            | NameError::ReservedPrincipal) => other,
        })
    }

    /// As [`Reason::parse`], for a workflow's own sentence: at most [`Reason::SHOWN_CHARS`] characters.
    pub fn parse_short(reason: &str) -> Result<Self, NameError> {
        bounded(A_REASON, reason, Self::SHOWN_CHARS).map(Self)
    }

    /// As [`Reason::parse`], for text that Baton took out of a package: cut rather than refused. Where
    /// it is cut, its end says so.
    pub fn shortened(text: &str) -> Option<Self> {
        const CUT: &str = " … [cut here: the package has the whole text]";
        let mut text: String = text.trim().chars().filter(|it| *it != '\0').collect();
        if text.len() > MOST_REASON_BYTES {
            text.truncate(text.floor_char_boundary(MOST_REASON_BYTES - CUT.len()));
            text.push_str(CUT);
        }
        if text.is_empty() { None } else { Some(Self(text)) }
    }

    /// The beginning of a reason, for lists; `None` where that is all of it. It ends between two words
    /// where it can, and its end says that it is cut: not every reader looks at a flag beside it.
    pub fn excerpt(text: &str) -> Option<String> {
        const CUT: &str = " … [cut here: the handoff by itself has the whole text]";
        /// A longer word is cut, for example an address.
        const LONGEST_WORD: usize = 100;
        text.char_indices().nth(Self::SHOWN_CHARS)?;
        let n_chars = Self::SHOWN_CHARS - CUT.chars().count();
        let (end, _) = text.char_indices().nth(n_chars)?;
        let is_between = text[end..].starts_with(char::is_whitespace);
        let is_in_word = |it: char| !is_between && !it.is_whitespace();
        let word_end = text[..end].trim_end_matches(is_in_word).trim_end().len();
        let is_near = text[word_end..end].chars().count() <= LONGEST_WORD;
        let end = if word_end > 0 && is_near { word_end } else { end };
        Some(format!("{}{CUT}", &text[..end]))
    }
}

fn bounded(what: &'static str, text: &str, most: usize) -> Result<String, NameError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(NameError::Empty { what });
    }
    if let Some(code) = text.chars().find(|it| *it == '\0') {
        return Err(NameError::Invisible { what, code: code as u32 });
    }
    let n = text.chars().count();
    if n > most {
        return Err(NameError::TooLong { what, n, unit: "characters", most });
    }
    Ok(text.to_owned())
}

fn kebab(what: &'static str, name: &str) -> Result<SmolStr, NameError> {
    let allowed = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit();
    let is_word = |word: &str| !word.is_empty() && word.chars().all(allowed);
    if name.len() > MOST_KEBAB_BYTES || !name.split('-').all(is_word) {
        let name = name.chars().filter(|it| !is_invisible(*it)).take(MOST_KEBAB_BYTES).collect();
        return Err(NameError::NotKebab { what, name });
    }
    Ok(name.into())
}

/// A name from a caller, in its stored form.
fn normal(what: &'static str, text: &str) -> Result<SmolStr, NameError> {
    // No longer text has a short normal form, and this bounds the work.
    if text.len() > MOST_KEY_BYTES * 4 {
        let (n, unit, most) = (text.len(), "bytes", MOST_KEY_BYTES);
        return Err(NameError::TooLong { what, n, unit, most });
    }
    let name = text.trim();
    if let Some(code) = name.chars().find(|it| is_invisible(*it)) {
        return Err(NameError::Invisible { what, code: code as u32 });
    }
    if is_nfc(name) {
        return stored(what, name);
    }
    stored(what, &name.nfc().collect::<String>())
}

fn stored(what: &'static str, name: &str) -> Result<SmolStr, NameError> {
    if name.trim().is_empty() {
        return Err(NameError::Empty { what });
    }
    if name.len() > MOST_KEY_BYTES {
        let (n, unit, most) = (name.len(), "bytes", MOST_KEY_BYTES);
        return Err(NameError::TooLong { what, n, unit, most });
    }
    if let Some(code) = name.chars().find(|it| is_formatting(*it)) {
        return Err(NameError::Invisible { what, code: code as u32 });
    }
    Ok(name.into())
}

macro_rules! text {
    ($($name:ident)+) => { $(
        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )+ };
}

macro_rules! stored_text {
    ($($name:ident)+) => { $(
        impl TryFrom<String> for $name {
            type Error = NameError;

            fn try_from(text: String) -> Result<Self, NameError> {
                Self::parse(&text)
            }
        }
    )+ };
}

text! { AgentId StepId WorkflowName StoryKey Principal Reason FreeText CheckName ContextKey CommitId ExecutorName }
stored_text! { AgentId StepId WorkflowName StoryKey Principal CheckName ContextKey CommitId ExecutorName }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_id_is_kebab_case() {
        for good in ["human", "implementer-agent", "a", "qa2"] {
            assert_eq!(AgentId::parse(good).unwrap().as_str(), good);
        }
        for bad in ["", "-", "a-", "-a", "a--b", "Analyst", "a b", "ä", "a_b", &"x".repeat(65)] {
            assert!(AgentId::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_story_key_is_what_people_choose() {
        for good in ["v0.1:1.1.1", "owner/repo#123", "Straße 🚀", &"x".repeat(200)] {
            assert_eq!(StoryKey::parse(good).unwrap().as_str(), good);
        }
        for bad in ["", "  ", "a\nb", "a\0", "\u{202E}gpj.exe", "a\u{200B}b", &"x".repeat(201)] {
            assert!(StoryKey::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_typed_key_is_kept_in_one_form() {
        for (typed, kept) in [
            ("v0.1:1.1.1", "v0.1:1.1.1"),
            ("owner/repo#123", "owner/repo#123"),
            ("Straße 🚀", "Straße 🚀"),
            (" s1\t", "s1"),
            ("\u{A0}s1\u{3000}", "s1"),
            ("cafe\u{301}", "caf\u{E9}"),
            ("\u{212A}", "K"),
            ("running:1", "running:1"),
        ] {
            assert_eq!(StoryKey::typed(typed).unwrap().as_str(), kept, "{typed:?}");
        }
        for bad in [
            "",
            "\u{A0}",
            "a\u{AD}b",
            "❤\u{FE0F}",
            "a\u{E0151}",
            "\u{3164}",
            "a\u{2800}b",
            "a\u{200D}b",
            "run:2",
            "story:x",
            "handoff:1",
            " run:2",
        ] {
            assert!(StoryKey::typed(bad).is_err(), "{bad:?}");
        }
        assert!(StoryKey::typed(&"e\u{301}".repeat(100)).is_ok());
        assert!(StoryKey::typed(&"e\u{301}".repeat(101)).is_err());
        assert!(StoryKey::typed(&"x".repeat(1_000_000)).is_err());
    }

    /// Databases hold such keys.
    #[test]
    fn keys_from_before_the_one_form_are_read() {
        for key in ["cafe\u{301}", " s1", "a\u{AD}b", "a\u{2800}", "run:2"] {
            assert_eq!(StoryKey::parse(key).unwrap().as_str(), key);
        }
    }

    #[test]
    fn a_reason_is_trimmed_and_bounded() {
        assert_eq!(Reason::parse("  tests fail\n").unwrap().as_str(), "tests fail");
        assert!(Reason::parse(" \n").is_err());
        assert!(Reason::parse(&"é".repeat(32 * 1024)).is_ok());
        assert!(Reason::parse(&"é".repeat(32 * 1024 + 1)).is_err());
        assert!(Reason::parse("a\0b").is_err());
        let whole = "é".repeat(32 * 1024);
        assert_eq!(Reason::shortened(&whole).unwrap().as_str(), whole);
        let cut = Reason::shortened(&format!("{whole}é")).unwrap();
        assert!(cut.as_str().len() <= Reason::MOST_BYTES, "{}", cut.as_str().len());
        assert!(cut.as_str().ends_with("é … [cut here: the package has the whole text]"));
        assert!(Reason::parse(cut.as_str()).is_ok());
    }

    #[test]
    fn the_excerpt_of_a_reason_ends_between_words_and_says_that_it_is_cut() {
        const CUT: &str = " … [cut here: the handoff by itself has the whole text]";
        let fits = Reason::SHOWN_CHARS - CUT.chars().count();
        assert_eq!(Reason::excerpt(&"é".repeat(1000)), None);
        // One word longer than any real one.
        let excerpt = Reason::excerpt(&"é".repeat(1001)).unwrap();
        assert_eq!(excerpt, "é".repeat(fits) + CUT);
        assert_eq!(excerpt.chars().count(), Reason::SHOWN_CHARS);
        // Wherever the limit falls, no word is cut.
        for n_before in 0..8 {
            let text = "x".repeat(n_before) + &" seven_7".repeat(200);
            let excerpt = Reason::excerpt(&text).unwrap();
            let words = excerpt.strip_suffix(CUT).unwrap();
            assert!(words.ends_with("seven_7"), "{n_before}: {words}");
            assert!(text.starts_with(words), "{n_before}");
            let n_chars = excerpt.chars().count();
            assert!(
                (Reason::SHOWN_CHARS - 8..=Reason::SHOWN_CHARS).contains(&n_chars),
                "{n_chars}"
            );
        }
    }

    #[test]
    fn a_commit_is_hexadecimal() {
        assert_eq!(CommitId::parse("ABC123").unwrap().as_str(), "abc123");
        for bad in ["", "abc", "xyz1", "abcd efgh", &"a".repeat(65)] {
            assert!(CommitId::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_error_shows_no_invisible_text() {
        let error = AgentId::parse("\u{202E}evil").unwrap_err();
        assert!(!error.to_string().contains('\u{202E}'), "{error}");
    }
}
