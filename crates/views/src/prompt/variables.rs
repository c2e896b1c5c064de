//! The variables at the top of a prompt, and `{{NAME}}` in an agent's own prompt.
//!
//! `$NAME` is left alone: that is for the agent's shell.

/// Names and values, in the order of the lines at the top.
pub(super) struct Variables(Vec<(&'static str, String)>);

impl Variables {
    pub(super) fn new(pairs: Vec<(&'static str, String)>) -> Self {
        Self(pairs)
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(it, _)| *it == name).map(|(_, value)| value.as_str())
    }

    /// Every name, for the error about an unknown one.
    pub(super) fn names(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }

    /// Substitutes the values once: a value is not expanded again. Returns all unknown names as the
    /// error.
    pub(super) fn put_into(&self, text: &str) -> Result<String, Vec<String>> {
        let mut filled = String::with_capacity(text.len());
        let mut unknown: Vec<String> = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find("{{") {
            filled.push_str(&rest[..at]);
            let behind = &rest[at + 2..];
            let Some(name) = name_at(behind) else {
                filled.push('{');
                rest = &rest[at + 1..];
                continue;
            };
            match self.value(name) {
                Some(value) => filled.push_str(value),
                None if unknown.iter().any(|it| it == name) => {}
                None => unknown.push(name.to_owned()),
            }
            rest = &behind[name.len() + 2..];
        }
        filled.push_str(rest);
        if unknown.is_empty() { Ok(filled) } else { Err(unknown) }
    }
}

/// The name before `}}`: capitals, digits and `_`. Other templates' braces are left alone.
fn name_at(text: &str) -> Option<&str> {
    let (name, _) = text.split_once("}}")?;
    let is_ours = |it: char| it.is_ascii_uppercase() || it.is_ascii_digit() || it == '_';
    let is_name = name.starts_with(|it: char| it.is_ascii_uppercase()) && name.chars().all(is_ours);
    is_name.then_some(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn variables() -> Variables {
        Variables::new(vec![
            ("STORY_ID", "a {{BRANCH}} $X".to_owned()),
            ("BRANCH", "feat/x".to_owned()),
        ])
    }

    #[track_caller]
    fn check(text: &str, expected: Result<&str, &[&str]>) {
        let expected = expected.map(str::to_owned);
        let expected = expected.map_err(|it| it.iter().map(|it| (*it).to_owned()).collect());
        assert_eq!(variables().put_into(text), expected);
    }

    #[test]
    fn names_are_replaced_once_and_the_shells_own_are_left_alone() {
        check("on {{BRANCH}}, $BRANCH", Ok("on feat/x, $BRANCH"));
        check("{{STORY_ID}}", Ok("a {{BRANCH}} $X"));
        check("{{{BRANCH}}}", Ok("{feat/x}"));
    }

    #[test]
    fn braces_of_others_are_left_alone() {
        for text in ["${{ secrets.KEY }}", "{{branch}}", "{{}}", "{{BRANCH", "{{A B}}", "{ {X}}"] {
            check(text, Ok(text));
        }
    }

    #[test]
    fn every_unknown_name_is_told_at_once() {
        check("{{NOPE}} {{BRANCH}} {{NOPE}} {{ALSO_2}}", Err(&["NOPE", "ALSO_2"]));
        assert_eq!(variables().names(), "STORY_ID, BRANCH");
    }

    proptest! {
        #[test]
        fn text_without_names_stays_as_it_is(text in "([a-z {}$\n]|é){0,40}") {
            prop_assert_eq!(variables().put_into(&text), Ok(text));
        }
    }
}
