//! The workflows and agents that come with Baton. A project's file of the same name wins.

/// Every built-in workflow: its name and the text of its file. The first is the default.
pub fn workflows() -> &'static [(&'static str, &'static str)] {
    &[("story-pipeline", include_str!("../builtin/workflows/story-pipeline.yaml"))]
}

/// Every built-in agent: its id and the text of its file.
pub fn agents() -> &'static [(&'static str, &'static str)] {
    &[
        ("analyst", include_str!("../builtin/agents/analyst.md")),
        ("implementer", include_str!("../builtin/agents/implementer.md")),
        ("reviewer", include_str!("../builtin/agents/reviewer.md")),
        ("refactorer", include_str!("../builtin/agents/refactorer.md")),
        ("documenter", include_str!("../builtin/agents/documenter.md")),
    ]
}

#[cfg(test)]
mod tests {
    use baton_core::contract::{Contract, Profile};
    use baton_core::document::Node;
    use baton_core::names::AgentId;
    use baton_core::workflow::Workflow;
    use expect_test::expect;

    use super::*;
    use crate::{agent_file, json, workflow_file};

    fn story_pipeline() -> Workflow {
        workflow_file::parse(workflows()[0].1).unwrap()
    }

    /// The bodies of a prompt's curl lines, with the shell's variables filled in.
    fn bodies(prompt: &str) -> Vec<Node> {
        let filled = prompt.replace("'\"$STORY_ID\"'", "v0.1:1.1.1").replace("HANDOFF_ID", "1");
        filled
            .split("-d '")
            .skip(1)
            .map(|it| json::parse(it.split('\'').next().unwrap()).unwrap())
            .collect()
    }

    fn edge_contract<'a>(workflow: &'a Workflow, from: &str, to: &str) -> Option<&'a Contract> {
        let [from, to] = [from, to].map(|it| AgentId::parse(it).unwrap());
        let (_, edge) = workflow.edges().find(|(place, edge)| {
            workflow.agents_at(place).contains(&from)
                && workflow.agents_at(&Workflow::target_place(&edge.to)).contains(&to)
        })?;
        workflow.contract(edge.contract.as_ref()?)
    }

    #[test]
    fn every_workflow_reads_without_a_problem() {
        for (name, text) in workflows() {
            assert_eq!(workflow_file::parse(text).unwrap().name.as_str(), *name);
        }
    }

    #[test]
    fn every_agent_reads_without_a_problem_and_every_step_has_one() {
        for (id, text) in agents() {
            assert_eq!(agent_file::parse(text).unwrap().agent.id.as_str(), *id);
        }
        let ids: Vec<&str> = agents().iter().map(|(id, _)| *id).collect();
        for step in story_pipeline().steps {
            assert!(step.agents.iter().all(|it| ids.contains(&it.as_str())), "{:?}", step.agents);
        }
    }

    #[test]
    fn the_story_pipeline_is_that_of_the_seed() {
        let workflow = story_pipeline();
        let edges: Vec<String> = workflow
            .edges()
            .map(|(from, edge)| {
                let to = Workflow::target_place(&edge.to);
                let contract = edge.contract.as_deref().unwrap_or("none");
                format!("{from} -{}-> {to} ({contract})", edge.on.name())
            })
            .collect();
        expect![[r#"
            orchestrator -success-> analyze (story)
            analyze -success-> implement (plan)
            implement -success-> review (implementation)
            review -success-> refactor (approval)
            review -failure-> implement (feedback)
            refactor -success-> document (polish)
            document -success-> orchestrator (wrap-up)"#]]
        .assert_eq(&edges.join("\n"));
        let phases: Vec<&str> = workflow.steps.iter().map(|it| it.phase.as_str()).collect();
        assert_eq!(
            phases,
            ["analyzing", "implementing", "reviewing", "refactoring", "documenting"]
        );
    }

    #[test]
    fn the_printed_examples_of_the_seed_pass_in_lenient() {
        let workflow = story_pipeline();
        for (from, to, payload) in [
            ("orchestrator", "analyst", r#"{ "story": {} , "story_id": "v0.1:1.1.1" }"#),
            ("orchestrator", "analyst", r#"{ "story": { "title": "x" } }"#),
            ("analyst", "implementer", r#"{ "plan": "..." }"#),
            ("implementer", "reviewer", "{}"),
            ("reviewer", "refactorer", "{}"),
            ("reviewer", "implementer", "{}"),
            ("refactorer", "documenter", "{}"),
            ("documenter", "orchestrator", "{}"),
        ] {
            let contract = edge_contract(&workflow, from, to).unwrap();
            let report = contract.check(&json::parse(payload).unwrap());
            assert_eq!(report.refusing(Profile::Lenient), [], "{from} to {to}");
        }
    }

    #[test]
    fn a_contradiction_is_refused_in_lenient() {
        let workflow = story_pipeline();
        for (from, to, payload) in [
            ("orchestrator", "analyst", "{}"),
            ("analyst", "implementer", "{}"),
            ("implementer", "reviewer", r#"{ "build_passes": false }"#),
            ("reviewer", "refactorer", r#"{ "approved": false }"#),
        ] {
            let contract = edge_contract(&workflow, from, to).unwrap();
            let report = contract.check(&json::parse(payload).unwrap());
            assert_eq!(report.refusing(Profile::Lenient).len(), 1, "{from} to {to}");
        }
    }

    #[test]
    fn the_example_in_every_prompt_passes_its_edge_in_strict() {
        let workflow = story_pipeline();
        for (id, text) in agents() {
            let mut n_handoffs = 0;
            for body in bodies(&agent_file::parse(text).unwrap().agent.prompt) {
                let word = |key: &str| body.at(key).and_then(Node::as_text);
                if word("action") != Some("create") || word("toAgent") == Some("human") {
                    continue;
                }
                assert_eq!(word("fromAgent"), Some(*id));
                let contract = edge_contract(&workflow, id, word("toAgent").unwrap()).unwrap();
                let report = contract.check(body.at("payload").unwrap());
                assert_eq!(report.refusing(Profile::Strict), [], "{id}");
                n_handoffs += 1;
            }
            assert_eq!(n_handoffs, 1, "{id}");
        }
    }

    #[test]
    fn every_prompt_takes_its_assignment_and_accepts_it_before_the_work() {
        for (id, text) in agents() {
            let assignment =
                format!("curl \"$DASHBOARD_URL/api/handoffs?storyId=$STORY_ID&agent={id}\"");
            let places = [assignment.as_str(), "\"action\": \"accept\"", "\"action\": \"create\""]
                .map(|it| text.find(it).unwrap_or_else(|| panic!("{id} lacks {it}")));
            assert!(places.is_sorted(), "{id}: {places:?}");
        }
    }
}
