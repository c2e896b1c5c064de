//! Whether a text is specific. The words below could be in any handoff; a text of nothing else says
//! nothing about this one.

use super::tokens::words;

/// Sorted, lower case, for binary search.
#[rustfmt::skip]
const GENERIC: &[&str] = &[
    "a", "able", "about", "above", "accomplished", "according", "accordingly", "achieved",
    "across", "action", "actions", "actually", "add", "added", "additional", "addressed",
    "adjusted", "after", "again", "agent", "agreed", "all", "almost", "along", "already", "also",
    "although", "always", "am", "an", "analysis", "and", "another", "answer", "answers", "any",
    "anything", "applied", "approach", "appropriate", "appropriately", "architecture", "are",
    "area", "areas", "around", "as", "ask", "asked", "aspect", "aspects", "assigned", "at",
    "attention", "back", "base", "based", "basic", "basically", "be", "because", "been", "before",
    "begin", "begins", "below", "best", "better", "between", "big", "bit", "bits", "both", "bug",
    "bugs", "build", "built", "but", "by", "can", "carried", "case", "cases", "change", "changed",
    "changes", "check", "checked", "clean", "cleaned", "cleanup", "closed", "closing", "code",
    "codebase", "coded", "coding", "comment", "comments", "committed", "complete", "completed",
    "completely", "completion", "complex", "component", "components", "conducted", "context",
    "continue", "continuing", "correct", "corrected", "correctly", "could", "couple", "created",
    "criteria", "current", "currently", "day", "dear", "deliverable", "deliverables", "delivered",
    "described", "design", "designed", "details", "developed", "developer", "development", "did",
    "discussed", "do", "doc", "docs", "document", "documentation", "documented", "documents",
    "does", "doing", "done", "draft", "during", "each", "easy", "either", "else", "end", "enough",
    "ensure", "ensured", "entire", "error", "errors", "every", "everything", "example",
    "examples", "executed", "existing", "expectations", "expected", "extra", "feature",
    "features", "feedback", "few", "file", "files", "final", "finalised", "finalized", "finally",
    "find", "fine", "finish", "finished", "finishing", "first", "fix", "fixed", "fixes", "fixing",
    "follow", "followed", "following", "for", "forward", "found", "from", "full", "fully",
    "functional", "functionality", "further", "general", "get", "go", "goal", "goals", "goes",
    "going", "good", "got", "great", "green", "had", "hand", "handed", "handing", "handle",
    "handled", "handling", "handoff", "handover", "happy", "hard", "has", "have", "hello", "help",
    "helped", "here", "hi", "hope", "however", "i", "i'm", "i've", "if", "implement",
    "implementation", "implemented", "implementing", "important", "improved", "improvement",
    "improvements", "in", "info", "information", "initial", "input", "instructed", "instructions",
    "is", "issue", "issues", "it", "it's", "item", "items", "iteration", "its", "just", "kind",
    "know", "large", "last", "latest", "let", "level", "lgtm", "like", "listed", "little", "look",
    "looked", "looking", "looks", "lot", "made", "main", "make", "making", "many", "me",
    "mentioned", "merged", "minor", "misc", "missing", "moment", "more", "most", "mostly", "move",
    "moved", "moving", "much", "multiple", "my", "nearly", "necessary", "need", "needed", "needs",
    "neither", "new", "next", "nice", "no", "nobody", "none", "not", "note", "noted", "notes",
    "nothing", "now", "of", "off", "ok", "okay", "on", "one", "only", "open", "opened", "or",
    "order", "other", "our", "out", "output", "outputs", "over", "overall", "part", "parts",
    "pass", "passed", "passes", "passing", "per", "performed", "phase", "piece", "pieces",
    "place", "planned", "please", "point", "points", "polish", "polished", "polishing",
    "possible", "pr", "prepare", "prepared", "previous", "previously", "problem", "problems",
    "proceed", "proceeded", "process", "produced", "progress", "project", "proper", "properly",
    "provided", "pushed", "put", "quality", "question", "questions", "ready", "really",
    "recently", "refactor", "refactored", "refactoring", "regards", "related", "relevant",
    "remaining", "repo", "reported", "repository", "request", "requested", "required",
    "requirement", "requirements", "resolved", "respective", "rest", "result", "results",
    "review", "reviewed", "reviewing", "robust", "round", "rounds", "run", "running", "said",
    "same", "second", "section", "see", "set", "several", "should", "simple", "simply", "since",
    "small", "smaller", "so", "solid", "solution", "some", "someone", "something", "soon",
    "sorry", "sort", "spec", "specification", "specifications", "specified", "specs", "stable",
    "stage", "standard", "standards", "start", "started", "starting", "starts", "state", "status",
    "step", "steps", "still", "story", "stuff", "submitted", "successful", "successfully",
    "summary", "sure", "system", "take", "taken", "task", "tasks", "team", "test", "tested",
    "testing", "tests", "thank", "thanks", "that", "that's", "the", "their", "them", "then",
    "there", "therefore", "these", "they", "thing", "things", "third", "this", "those", "though",
    "through", "thus", "ticket", "tidied", "tidy", "time", "times", "to", "today", "tomorrow",
    "too", "topic", "touch", "touched", "touches", "tweaked", "tweaks", "type", "types", "under",
    "until", "up", "update", "updated", "updates", "us", "use", "used", "various", "verified",
    "version", "versions", "very", "want", "wanted", "was", "way", "ways", "we", "week", "well",
    "went", "were", "what", "whatever", "when", "where", "which", "while", "whole", "will",
    "with", "without", "work", "worked", "working", "works", "would", "written", "wrong", "wrote",
    "yes", "yesterday", "yet", "you", "your",
];

/// Nothing specific, or a single specific word in passing. A number alone does not help.
pub(super) fn is_vague(text: &str) -> bool {
    let (mut n_words, mut n_specific, mut n_numbers) = (0, 0, 0);
    for word in words(text) {
        n_words += 1;
        match kind(word) {
            WordKind::Generic => {}
            WordKind::Number => n_numbers += 1,
            WordKind::Specific => n_specific += 1,
        }
        // The rest cannot make it vague again.
        if n_specific > 1 || (n_specific == 1 && (n_numbers > 0 || n_words > 3)) {
            return false;
        }
    }
    true
}

/// True where no word is a name, a path or a word of the subject.
pub(super) fn is_empty(text: &str) -> bool {
    words(text).all(|it| kind(it) != WordKind::Specific)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WordKind {
    Generic,
    Number,
    Specific,
}

fn kind(word: &str) -> WordKind {
    let is_number = |it: char| it.is_ascii_digit() || matches!(it, '.' | ',' | '%' | '/' | '-');
    if word.starts_with(|it: char| it.is_ascii_digit()) && word.chars().all(is_number) {
        return WordKind::Number;
    }
    let is_generic = word.split(['-', '/']).all(|it| is_generic(it.trim_end_matches("'s")));
    if is_generic { WordKind::Generic } else { WordKind::Specific }
}

fn is_generic(word: &str) -> bool {
    // The longest of them has 14 letters.
    let mut lower = [0_u8; 16];
    let Some(lower) = lower.get_mut(..word.len()) else { return false };
    lower.copy_from_slice(word.as_bytes());
    lower.make_ascii_lowercase();
    GENERIC.binary_search_by(|it| it.as_bytes().cmp(lower)).is_ok() || word.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_fits() {
        assert!(
            GENERIC.is_sorted_by(|one, two| one < two),
            "{:?}",
            GENERIC.windows(2).find(|it| it[0] >= it[1])
        );
        assert!(GENERIC.iter().all(|it| it.len() <= 16 && !it.contains('-')));
    }

    /// Every fragment that the source documents print as good or required, and as bad or forbidden.
    #[test]
    fn the_printed_vague_and_concrete_examples_are_distinguished() {
        for good in [
            "Designed component hierarchy using compound pattern with Zustand state management",
            "Implemented dashboard with 3 metrics widgets, integrated TanStack Query for API calls",
            "Created 12 unit tests and 3 E2E tests, achieved 87% coverage",
            "Specifications completed: 3 epics, 12 user stories, personas defined",
            "User stories defined and validated by client",
            "API architecture defined, needs security review",
            "Two possible approaches with significant trade-offs",
            "2 risks identified, recommendations provided",
            "Created issue for user authentication feature",
            "Implemented user authentication with JWT tokens",
            "Code review passed with no blocking issues",
            "User authentication implemented with JWT tokens",
        ] {
            assert!(!is_vague(good), "{good}");
        }
        for bad in ["Completed the architecture", "Wrote some code", "Added tests", "It's done"] {
            assert!(is_vague(bad), "{bad}");
        }
    }

    #[test]
    fn a_number_alone_does_not_make_it_specific() {
        assert!(is_vague("Completed 3 tasks and fixed 2 bugs"));
        assert!(!is_vague("Coverage 93%"));
    }
}
