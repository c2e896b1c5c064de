//! The XML declaration, by its grammar: the parser takes nearly anything for one.

use super::characters::is_blank;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum DeclarationProblem {
    /// It is not XML.
    Syntax(&'static str),
    /// It is XML that is not read here.
    Refused(&'static str),
}

const ORDER: &str = "the declaration has `version`, then `encoding`, then `standalone`, each at \
                     most once and with its value in quotes, and nothing else";

/// What is wrong with the declaration that a text begins with.
pub(super) fn problem(text: &str) -> Option<DeclarationProblem> {
    check(text).err()
}

fn check(text: &str) -> Result<(), DeclarationProblem> {
    let syntax = DeclarationProblem::Syntax(ORDER);
    let inner = text.strip_prefix("<?xml").and_then(|it| it.split_once("?>"));
    let Some((mut rest, _)) = inner else { return Err(syntax) };
    let Some(version) = attribute(&mut rest, "version")? else { return Err(syntax) };
    if version != "1.0" {
        return Err(DeclarationProblem::Refused("only XML 1.0 is read"));
    }
    if let Some(encoding) = attribute(&mut rest, "encoding")? {
        let is_part = |it: char| it.is_ascii_alphanumeric() || "._-".contains(it);
        if !encoding.starts_with(|it: char| it.is_ascii_alphabetic())
            || !encoding.chars().all(is_part)
        {
            return Err(DeclarationProblem::Syntax("`encoding` is not the name of an encoding"));
        }
        if !["utf-8", "us-ascii"].iter().any(|it| encoding.eq_ignore_ascii_case(it)) {
            return Err(DeclarationProblem::Refused("only UTF-8 is read"));
        }
    }
    if let Some(standalone) = attribute(&mut rest, "standalone")?
        && !matches!(standalone, "yes" | "no")
    {
        return Err(DeclarationProblem::Syntax("`standalone` is `yes` or `no`"));
    }
    if rest.chars().all(is_blank) { Ok(()) } else { Err(syntax) }
}

/// The value of an attribute, where it is the next one.
fn attribute<'a>(rest: &mut &'a str, name: &str) -> Result<Option<&'a str>, DeclarationProblem> {
    let trimmed = rest.trim_start_matches(is_blank);
    let Some(behind) = trimmed.strip_prefix(name) else { return Ok(None) };
    // A blank has to stand before each of them.
    let value = (trimmed.len() < rest.len()).then(|| value(behind)).flatten();
    let (value, after) = value.ok_or(DeclarationProblem::Syntax(ORDER))?;
    *rest = after;
    Ok(Some(value))
}

fn value(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches(is_blank).strip_prefix('=')?.trim_start_matches(is_blank);
    let quote = text.chars().next().filter(|it| matches!(it, '"' | '\''))?;
    text[1..].split_once(quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declaration_keeps_the_grammar_of_xml() {
        for good in [
            "<?xml version=\"1.0\"?><d/>",
            "<?xml version='1.0' ?><d/>",
            "<?xml\tversion = \"1.0\" encoding='utf-8' standalone=\"no\" ?><d/>",
            "<?xml version=\"1.0\" standalone='yes'?><d/>",
        ] {
            assert_eq!(problem(good), None, "{good}");
        }
        for bad in [
            "<?xml version=\"1.0\" version=\"1.0\"?><d/>",
            "<?xml version=\"1.0\" standalone=yes?><d/>",
            "<?xml version=\"1.0\" standalone='YES'?><d/>",
            "<?xml version=\"1.0\" standalone='maybe'?><d/>",
            "<?xml version=\"1.0\" standalone='yes\"?><d/>",
            "<?xml version=\"1.0\" standalone=\"yes\" encoding=\"UTF-8\"?><d/>",
            "<?xml version=\"1.0\"standalone=\"yes\"?><d/>",
            "<?xml version=\"1.0\"encoding=\"UTF-8\"?><d/>",
            "<?xml version=\"1.0\" encoding=\"\"?><d/>",
            "<?xml version=\"1.0\" encoding=\"8 bit\"?><d/>",
            "<?xml version=\"1.0\" valid=\"no\"?><d/>",
            "<?xml version=1.0?><d/>",
            "<?xml encoding=\"UTF-8\"?><d/>",
            "<?xmlversion=\"1.0\"?><d/>",
            "<?xml ?><d/>",
        ] {
            assert!(matches!(problem(bad), Some(DeclarationProblem::Syntax(_))), "{bad}");
        }
        for other in ["<?xml version=\"1.1\"?><d/>", "<?xml version='1.0' encoding='latin1'?><d/>"]
        {
            assert!(matches!(problem(other), Some(DeclarationProblem::Refused(_))), "{other}");
        }
    }
}
