//! The stories of the demo: files of `crates/cli/demo`, compiled in.

use baton_core::story::Story;
use baton_wire::story_file;

use crate::failure::Failure;

/// A story, and what is played for it.
pub(super) struct DemoStory {
    pub(super) workflow: &'static str,
    /// What to look out for.
    pub(super) about: &'static str,
    file: &'static str,
    agents: &'static str,
    /// The commands of the checks that the workflow asks for.
    pub(super) checks: &'static str,
    /// The name of its tests in the project, and the tests.
    pub(super) test: (&'static str, &'static str),
    /// The answer to the question of an agent, if the viewer gives none.
    pub(super) answer: &'static str,
    /// What was built, to be tried at the end: a program and its arguments.
    pub(super) built: &'static [&'static str],
    pub(super) promises: Promises,
}

/// What the demo does besides playing the agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Promises {
    /// Two agents reach for the first handoff, the winner dies, and the server is killed while this
    /// agent is at work.
    All {
        killed_with: &'static str,
    },
    None,
}

/// In the order in which `--workflow` names them.
pub(super) const STORIES: [DemoStory; 5] = [
    DemoStory {
        workflow: "story-pipeline",
        about: include_str!("../../../demo/story-pipeline/about.txt"),
        file: include_str!("../../../demo/story-pipeline/story.yaml"),
        agents: include_str!("../../../demo/story-pipeline/agents.yaml"),
        checks: "",
        test: ("discount", include_str!("../../../demo/story-pipeline/acceptance.test")),
        answer: include_str!("../../../demo/story-pipeline/answer.txt"),
        built: &["bin/sign"],
        promises: Promises::All { killed_with: "implementer" },
    },
    DemoStory {
        workflow: "issue-to-merge",
        about: include_str!("../../../demo/issue-to-merge/about.txt"),
        file: include_str!("../../../demo/issue-to-merge/story.yaml"),
        agents: include_str!("../../../demo/issue-to-merge/agents.yaml"),
        checks: "",
        test: ("numbers", include_str!("../../../demo/issue-to-merge/acceptance.test")),
        answer: "",
        built: &["bin/total", "ten", "200"],
        promises: Promises::None,
    },
    DemoStory {
        workflow: "feature-phases",
        about: include_str!("../../../demo/feature-phases/about.txt"),
        file: include_str!("../../../demo/feature-phases/story.yaml"),
        agents: include_str!("../../../demo/feature-phases/agents.yaml"),
        checks: "",
        test: ("receipt", include_str!("../../../demo/feature-phases/acceptance.test")),
        answer: "",
        built: &["bin/receipt", "3", "250"],
        promises: Promises::None,
    },
    DemoStory {
        workflow: "bmad-delivery",
        about: include_str!("../../../demo/bmad-delivery/about.txt"),
        file: include_str!("../../../demo/bmad-delivery/story.yaml"),
        agents: include_str!("../../../demo/bmad-delivery/agents.yaml"),
        checks: "",
        test: ("points", include_str!("../../../demo/bmad-delivery/acceptance.test")),
        answer: "",
        built: &["bin/points", "3", "250"],
        promises: Promises::None,
    },
    DemoStory {
        workflow: "gated-project",
        about: include_str!("../../../demo/gated-project/about.txt"),
        file: include_str!("../../../demo/gated-project/story.yaml"),
        agents: include_str!("../../../demo/gated-project/agents.yaml"),
        checks: include_str!("../../../demo/gated-project/checks.toml"),
        test: ("invoice", include_str!("../../../demo/gated-project/acceptance.test")),
        answer: "",
        built: &["bin/invoice", "500001"],
        promises: Promises::None,
    },
];

impl DemoStory {
    pub(super) fn story(&self) -> Result<Story, Failure> {
        let file = format!("{}/story.yaml", self.workflow);
        let stories = story_file::parse(self.file)
            .map_err(|problems| Failure::File { file: file.clone(), problems })?;
        let first = stories.into_iter().next();
        first.ok_or_else(|| Failure::Usage(format!("`{file}` has no story")))
    }

    /// The script of its agents, each of whom thinks for so long.
    pub(super) fn script(&self, pace_ms: u64) -> String {
        let script = self.agents.replace("wait: PACE", &format!("wait: {}ms", pace_ms.max(1)));
        script.replace("wait: LAST", &format!("wait: {}ms", pace_ms.max(LEAST_LAST_MS)))
    }
}

/// How long the last agent waits before its handoff ends the run, which takes no more messages then: the
/// runner says twice a second what an agent has printed.
const LEAST_LAST_MS: u64 = 700;

#[cfg(test)]
mod tests {
    use baton_wire::script_file;

    use super::*;

    #[test]
    fn every_story_of_the_demo_can_be_read() {
        let shown: Vec<&str> = STORIES.iter().map(|it| it.workflow).collect();
        assert_eq!(shown, crate::args::SHOWN);
        for story in &STORIES {
            assert!(story.story().unwrap().description.len() > 20, "{}", story.workflow);
            let script = story.script(0);
            script_file::parse(&script).unwrap();
            assert!(!script.contains("PACE\n") && script.contains("wait: 700ms\n"));
            assert!(!script.contains("LAST\n"), "{}", story.workflow);
            assert!(story.about.trim().len() > 20 && story.test.1.contains(" => "));
        }
    }
}
