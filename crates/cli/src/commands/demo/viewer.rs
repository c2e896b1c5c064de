//! What the demo asks of its server, in the viewer's name.

use std::collections::HashMap;

use baton_api::{
    Acceptance, AgentProfile, DecisionDocument, EventDocument, HandoffDocument, HandoffSummary,
    InboxItemDocument, MessageDocument, Page, PersonsWord, RunDetail, RunDocument, StartRequest,
    StoryDocument, StoryText,
};
use baton_core::gate::AnswerKind;
use baton_core::names::Principal;
use baton_core::story::Story;
use uuid::Uuid;

use crate::api::{Api, Ask, RemoteServer};
use crate::failure::Failure;

/// What a person answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::commands) struct ViewerAnswer {
    pub(in crate::commands) kind: AnswerKind,
    /// The agent, for [`AnswerKind::HandTo`] alone.
    pub(in crate::commands) to_agent: Option<String>,
    pub(in crate::commands) comment: Option<String>,
}

impl ViewerAnswer {
    pub(in crate::commands) fn new(kind: AnswerKind) -> Self {
        Self { kind, to_agent: None, comment: None }
    }

    pub(in crate::commands) fn with_comment(self, comment: &str) -> Self {
        Self { comment: Some(comment.to_owned()), ..self }
    }
}

/// A caller of the demo's server.
pub(in crate::commands) struct Viewer {
    api: Api,
}

impl Viewer {
    pub(in crate::commands) fn new(url: &str, name: &str) -> Result<Self, Failure> {
        let server = RemoteServer::started(url)?;
        Ok(Self { api: Api::at(server, Principal::parse(name)?) })
    }

    /// In whose name it asks.
    pub(in crate::commands) fn caller(&self) -> &str {
        self.api.caller()
    }

    /// Adds a story and starts its run.
    pub(in crate::commands) async fn start(
        &self,
        story: &Story,
        workflow: Option<&str>,
        budget: Option<&str>,
    ) -> Result<RunDocument, Failure> {
        let key = story.key.to_string();
        let text = StoryText {
            title: story.title.clone(),
            description: story.description.clone(),
            acceptance: story.acceptance.clone(),
            depends_on: Vec::new(),
            priority: story.priority,
            branch: None,
            pr_url: None,
        };
        self.api.send(&Ask::put(["stories", &key], &text)).await?;
        let start = StartRequest {
            story: Some(key.clone()),
            new_story: false,
            anyway: false,
            workflow: workflow.map(str::to_owned),
            to_agent: None,
            package: None,
            reason: None,
            at: None,
            mode: None,
            budget: budget.map(str::to_owned),
        };
        self.api.send(&Ask::post(["runs"], &start)).await?;
        self.run(&format!("story:{key}")).await
    }

    pub(in crate::commands) async fn run(&self, name: &str) -> Result<RunDocument, Failure> {
        self.api.get(&Ask::get(["runs", name])).await
    }

    pub(in crate::commands) async fn story(&self, key: &str) -> Result<StoryDocument, Failure> {
        self.api.get(&Ask::get(["stories", key])).await
    }

    /// A run with what it has used.
    pub(in crate::commands) async fn detail(&self, name: &str) -> Result<RunDetail, Failure> {
        self.api.get(&Ask::get(["runs", name])).await
    }

    /// The runs that are not over.
    pub(in crate::commands) async fn open_runs(&self) -> Result<Vec<RunDocument>, Failure> {
        Ok(self.api.list(Ask::get(["runs"]).with("status", "open,paused")).await?.items)
    }

    pub(in crate::commands) async fn stories(&self) -> Result<Vec<StoryDocument>, Failure> {
        Ok(self.api.list(Ask::get(["stories"])).await?.items)
    }

    pub(in crate::commands) async fn decisions(
        &self,
        run: Uuid,
    ) -> Result<Vec<DecisionDocument>, Failure> {
        Ok(self.api.list(Ask::get(["runs", &run.to_string(), "decisions"])).await?.items)
    }

    /// Those too that are open, answered or withdrawn.
    pub(in crate::commands) async fn all_decisions(
        &self,
        run: Uuid,
    ) -> Result<Vec<DecisionDocument>, Failure> {
        let all = Ask::get(["runs", &run.to_string(), "decisions"]).with("all", "true");
        Ok(self.api.list(all).await?.items)
    }

    /// As the caller of an API that is open already.
    pub(in crate::commands) fn named(api: Api) -> Self {
        Self { api }
    }

    /// Every handoff of a run.
    pub(in crate::commands) async fn handoffs(
        &self,
        run: Uuid,
    ) -> Result<Vec<HandoffSummary>, Failure> {
        Ok(self.api.list(Ask::get(["handoffs"]).with("run", run)).await?.items)
    }

    /// Every handoff of every run.
    pub(in crate::commands) async fn all_handoffs(&self) -> Result<Vec<HandoffSummary>, Failure> {
        Ok(self.api.list(Ask::get(["handoffs"])).await?.items)
    }

    /// The package of a handoff, as JSON.
    pub(in crate::commands) async fn package(
        &self,
        row: &HandoffSummary,
    ) -> Result<Option<String>, Failure> {
        let found: HandoffDocument =
            self.api.get(&Ask::get(["handoffs", &row.number.to_string()])).await?;
        Ok(found.package.map(|it| it.get().to_owned()))
    }

    /// The next events of a run.
    pub(in crate::commands) async fn events(
        &self,
        run: Uuid,
        after: u64,
    ) -> Result<Vec<EventDocument>, Failure> {
        let run = run.to_string();
        let ask = Ask::get(["runs", &run, "events"]).with("after", after).with("limit", 100);
        Ok(self.api.get::<Page<EventDocument>>(&ask).await?.items)
    }

    /// The whole text of a message, whose event has the beginning.
    pub(in crate::commands) async fn message(
        &self,
        run: Uuid,
        position: u64,
    ) -> Result<Option<String>, Failure> {
        let all = Ask::get(["runs", &run.to_string(), "messages"]);
        let all = self.api.list::<MessageDocument>(all).await?.items;
        Ok(all.into_iter().find(|it| it.position == position).and_then(|it| it.text))
    }

    /// Takes a handoff under a lease.
    pub(in crate::commands) async fn accept(
        &self,
        handoff: u64,
        agent: &str,
        lease_seconds: u32,
    ) -> Result<(), Failure> {
        let accept = Acceptance {
            agent: Some(agent.to_owned()),
            acknowledgement: None,
            lease_seconds: Some(lease_seconds),
        };
        let name = format!("handoff:{handoff}");
        self.api.send(&Ask::post(["handoffs", &name, "accept"], &accept)).await.map(|_| ())
    }

    /// What waits for a person in a run.
    pub(in crate::commands) async fn inbox(
        &self,
        run: Uuid,
    ) -> Result<Vec<InboxItemDocument>, Failure> {
        let all = self.api.list::<InboxItemDocument>(Ask::get(["inbox"])).await?.items;
        Ok(all.into_iter().filter(|it| it.run.id == run).collect())
    }

    pub(in crate::commands) async fn answer(
        &self,
        handoff: Uuid,
        answer: ViewerAnswer,
    ) -> Result<(), Failure> {
        let ViewerAnswer { kind, to_agent, comment } = answer;
        let (content_hash, package) = (None, None);
        let word = PersonsWord { answer: kind.into(), to_agent, comment, content_hash, package };
        let ask = Ask::post(["inbox", &handoff.to_string(), "answer"], &word);
        self.api.send(&ask).await.map(|_| ())
    }

    /// The names of the agents, by id.
    pub(in crate::commands) async fn names(&self) -> Result<HashMap<String, String>, Failure> {
        let agents: Page<AgentProfile> = self.api.get(&Ask::get(["agents"])).await?;
        Ok(agents
            .items
            .into_iter()
            .map(|it| (it.attribution.agent_id, it.attribution.agent_name))
            .collect())
    }
}
