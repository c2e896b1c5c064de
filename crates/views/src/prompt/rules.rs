//! The rules that may refuse a package, in words, from the linter's own table: a new rule is stated in
//! every prompt by itself.

use baton_core::contract::Profile;
use baton_core::document::Node;
use baton_core::document::kind::DocumentKind;
use baton_core::lint::{LintDemand, LintRule, LintScope, Settings, demands};
use minijinja::context;
use minijinja::value::Value;

/// How many fields of one demand are named; the others are like them.
const MOST_NAMED: usize = 3;

/// What the linter demands of packages with these fields, as the templates print it; none where it
/// refuses nothing.
pub(super) fn demanded(examples: &[Node], profile: Profile, settings: &Settings) -> Option<Value> {
    let mut fields: Vec<&str> = Vec::new();
    for example in examples {
        names(example, &mut fields);
    }
    let is_silenced =
        |rule: &LintRule| settings.silences.iter().any(|it| it.rule == *rule && it.path.is_none());
    let mut demands = demands(profile);
    demands.retain(|it| !it.rules.iter().all(is_silenced));
    if demands.is_empty() {
        return None;
    }
    let is_document = examples.iter().any(|it| DocumentKind::of(it) != DocumentKind::Payload);
    let words = |it: &LintDemand| {
        let named = it.fields().into_iter();
        let present: Vec<&str> = named.filter(|it| fields.contains(it)).collect();
        let mut shown = if present.is_empty() { it.fields() } else { present };
        let has_more = shown.len() > MOST_NAMED;
        shown.truncate(if has_more { MOST_NAMED - 1 } else { MOST_NAMED });
        context! { fields => shown, has_more, words => it.words.clone() }
    };
    let (mut everywhere, mut present, mut added) = (Vec::new(), Vec::new(), Vec::new());
    for demand in &demands {
        match demand.scope {
            LintScope::EveryText => everywhere.push(demand.words.clone()),
            LintScope::Fields(_) if demand.is_about(fields.iter().copied()) => {
                present.push(words(demand));
            }
            LintScope::Fields(_) => added.push(words(demand)),
            LintScope::Document(_) if is_document => added.push(words(demand)),
            LintScope::Document(_) | LintScope::Acknowledgement => {}
        }
    }
    Some(context! { everywhere, present, added })
}

/// The names of all members, also of those in lists.
fn names<'a>(node: &'a Node, into: &mut Vec<&'a str>) {
    match node {
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) => {}
        Node::List(items) => items.iter().for_each(|it| names(it, into)),
        Node::Map(members) => {
            for (key, member) in members {
                into.push(key);
                names(member, into);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use baton_core::lint::{Severity, Silence};
    use baton_wire::formats;

    use super::*;

    fn stated(example: &Node, settings: &Settings) -> String {
        let demanded = demanded(&[example.clone()], Profile::Strict, settings);
        let list = |key: &str| -> String {
            let value = demanded.as_ref().unwrap().get_attr(key).unwrap();
            let word = |it: Value| match it.as_str() {
                Some(text) => text.to_owned(),
                None => it.get_attr("words").unwrap().as_str().unwrap().to_owned(),
            };
            value.try_iter().unwrap().map(word).collect::<Vec<_>>().join("\n")
        };
        [list("everywhere"), list("present"), list("added")].join("\n")
    }

    #[test]
    fn every_rule_that_may_refuse_is_stated_where_it_can_apply() {
        let payload = Node::map([("plan", Node::text("p"))]);
        let xml = "<handoff><from>a</from><to>b</to><status>ready</status></handoff>";
        let document = formats::decode(formats::guess(xml).unwrap(), xml).unwrap();
        let all = demands(Profile::Strict);
        for rule in LintRule::ALL.into_iter().filter(|it| it.severity() > Severity::Info) {
            let words = &all.iter().find(|it| it.rules.contains(&rule)).unwrap().words;
            let is_stated =
                |example: &Node| stated(example, &Settings::default()).contains(words.as_str());
            let expected = match rule.scope() {
                LintScope::EveryText | LintScope::Fields(_) => (true, true),
                LintScope::Document(_) => (false, true),
                LintScope::Acknowledgement => (false, false),
            };
            assert_eq!((is_stated(&payload), is_stated(&document)), expected, "{rule}");
        }
    }

    #[test]
    fn a_rule_that_the_project_silences_is_not_stated() {
        let silence =
            |path| Silence { rule: LintRule::Unmeasurable, reason: "not here".to_owned(), path };
        let payload = Node::map([("plan", Node::text("p"))]);
        let settings = |path| Settings { silences: vec![silence(path)], ..Settings::default() };
        let words = "each can be checked";
        assert!(!stated(&payload, &settings(None)).contains(words));
        assert!(stated(&payload, &settings(Some("docs".to_owned()))).contains(words));
    }
}
