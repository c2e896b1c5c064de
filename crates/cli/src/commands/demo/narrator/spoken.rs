//! What an agent prints, as lines worth showing: without the documents that it types or prints, which
//! the log has in full.

/// The names by which a script calls Baton and its handoff, and what they stand for.
const SHORT: [(&str, &str); 3] =
    [("\"$BATON\"", "baton"), ("\"$BATON_HANDOFF\"", "N"), (" 2>&1", "")];

pub(super) fn spoken(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = text.lines();
    while let Some(line) = rest.next() {
        if line.trim().is_empty() {
            continue;
        }
        if line.starts_with("```") {
            // A handoff between fences.
            rest.by_ref().take_while(|it| !it.starts_with("```")).for_each(drop);
            lines.push("(its handoff, printed as a block)".to_owned());
            continue;
        }
        // A command that failed is named once more; that it failed is in what it printed.
        if line.starts_with('`') {
            continue;
        }
        if line.contains("<<'END'") {
            rest.by_ref().take_while(|it| *it != "END").for_each(drop);
        }
        let line = SHORT.iter().fold(line.to_owned(), |it, (long, short)| it.replace(long, short));
        lines.push(line.replace(" <<'END'", " …"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_that_an_agent_types_or_prints_are_left_out() {
        let text = "I hand it on\n$ \"$BATON\" handoff complete \"$BATON_HANDOFF\" 2>&1 <<'END'\n{}\nEND\n\
                    error: no\n  - plan: is missing\n`\"$BATON\" x <<'END'` failed: exit status: 1\n\n\
                    I am done.\n\n```baton\n{\"a\":1}\n```\nbye";
        let expected = [
            "I hand it on",
            "$ baton handoff complete N …",
            "error: no",
            "  - plan: is missing",
            "I am done.",
            "(its handoff, printed as a block)",
            "bye",
        ];
        assert_eq!(spoken(text), expected);
    }

    #[test]
    fn a_document_that_never_ends_takes_the_rest_with_it() {
        assert_eq!(spoken("$ cat <<'END'\na\nb"), ["$ cat …"]);
        assert_eq!(spoken("```\na"), ["(its handoff, printed as a block)"]);
    }
}
