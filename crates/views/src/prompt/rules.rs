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
    let mut fields: Vec<String> = Vec::new();
    for example in examples {
        paths(example, "", &mut fields);
    }
    let last = |path: &str| path.rsplit('.').next().unwrap_or(path).to_owned();
    let is_silenced =
        |rule: &LintRule| settings.silences.iter().any(|it| it.rule == *rule && it.path.is_none());
    let mut demands = demands(profile);
    demands.retain(|it| !it.rules.iter().all(is_silenced));
    if demands.is_empty() {
        return None;
    }
    let is_document = examples.iter().any(|it| DocumentKind::of(it) != DocumentKind::Payload);
    let words = |it: &LintDemand| {
        let is_here = it.is_about(fields.iter().map(String::as_str));
        let is_used = |name: &&str| fields.iter().any(|it| last(it) == **name);
        let named = it.fields().into_iter();
        // Where only a part of the example has that name, the field itself would be at the top.
        let name = |it: &str| {
            let is_other = !is_here && is_used(&it);
            format!("`{it}`{}", if is_other { " at the top" } else { "" })
        };
        let shown: Vec<&str> = named.filter(|it| !is_here || is_used(it)).collect();
        let mut shown: Vec<String> = shown.into_iter().map(name).collect();
        let has_more = shown.len() > MOST_NAMED;
        shown.truncate(if has_more { MOST_NAMED - 1 } else { MOST_NAMED });
        context! { fields => shown.join(", "), has_more, words => it.words.clone() }
    };
    let (mut everywhere, mut present, mut added) = (Vec::new(), Vec::new(), Vec::new());
    for demand in &demands {
        match demand.scope {
            LintScope::EveryText => everywhere.push(demand.words.clone()),
            LintScope::Fields(_) | LintScope::Keys(_)
                if demand.is_about(fields.iter().map(String::as_str)) =>
            {
                present.push(words(demand));
            }
            LintScope::Fields(_) | LintScope::Keys(_) => added.push(words(demand)),
            LintScope::Document(_) if is_document => added.push(words(demand)),
            LintScope::Document(_) | LintScope::Acknowledgement => {}
        }
    }
    Some(context! { everywhere, present, added })
}

/// The paths of all members, also of those in lists.
fn paths(node: &Node, above: &str, into: &mut Vec<String>) {
    match node {
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) => {}
        Node::List(items) => items.iter().for_each(|it| paths(it, above, into)),
        Node::Map(members) => {
            for (key, member) in members {
                let path = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
                paths(member, &path, into);
                into.push(path);
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
        let demanded = demanded(std::slice::from_ref(example), Profile::Strict, settings);
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
                LintScope::EveryText | LintScope::Fields(_) | LintScope::Keys(_) => (true, true),
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
