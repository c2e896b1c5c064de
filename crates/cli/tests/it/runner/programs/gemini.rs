//! Gemini CLI.

use super::*;

#[test]
fn gemini_completes_a_pipeline() {
    let agents = RealAgents::new("[agents.\"*\"]\nexecutors = [\"gemini\"]\n", works);
    let served = agents.serves();
    agents.workshop.start("s1");
    let handoffs = check_completed(&agents);
    assert!(handoffs.iter().all(|it| it["attempt"] == 1), "{handoffs:?}");
    let messages = messages(&served);
    assert!(messages.contains("[write_file] src/app.txt"), "{messages}");
    assert!(messages.contains("`implementer` (gemini) used 200 tokens in, 40 out"), "{messages}");
    assert!(messages.contains("what `implementer` changed is committed as"), "{messages}");
}

#[test]
fn at_the_rate_limit_of_gemini_claude_goes_on_with_the_same_package_and_workspace() {
    let resets_at = 1_900_000_000;
    // Gemini has done a part of the work when the limit comes.
    let script = move |it: &ScriptedConversation| match ModelUser::of(it) {
        ModelUser::Gemini if it.n_results == 0 => ModelStep::Tool {
            name: "write_file".to_owned(),
            input: json!({"file_path": "notes.txt", "content": "begun by gemini\n"}),
        },
        ModelUser::Gemini => ModelStep::RateLimited { resets_at },
        ModelUser::Claude | ModelUser::Codex => works(it),
    };
    let agents = "[agents.implementer]\nexecutors = [\"gemini\", \"claude\"]\n\
                  [agents.\"*\"]\nexecutors = [\"claude\"]\n";
    let agents = RealAgents::new(agents, script);
    let served = agents.serves();
    agents.workshop.start("s1");
    let handoffs = check_completed(&agents);
    assert!(handoffs.iter().all(|it| it["attempt"] == 1), "{handoffs:?}");
    let messages = messages(&served);
    // Its program says how many seconds to wait: more than the 8 days that are believed.
    assert!(messages.contains("`gemini` is at its rate limit until 20"), "{messages}");
    assert!(!messages.contains("2030-03-17"), "{messages}");
    assert!(
        messages.contains("`claude` goes on with the same package and workspace"),
        "{messages}"
    );
    let begun = agents.workshop.git(&["show", "feat/story-s1:notes.txt"]);
    assert_eq!(begun, "begun by gemini", "the workspace is the same");
    let seen = agents.model.seen();
    let prompt = |user| {
        let of =
            |it: &&ScriptedConversation| agent(it) == "implementer" && ModelUser::of(it) == user;
        let text = &seen.iter().find(of).unwrap().text;
        text[text.find("You are `implementer`").unwrap()..].to_owned()
    };
    let package = "Write src/app.txt. 2. Check that it greets.";
    assert!(prompt(ModelUser::Gemini).contains(package), "{}", prompt(ModelUser::Gemini));
    assert!(prompt(ModelUser::Claude).contains(package), "{}", prompt(ModelUser::Claude));
}

#[test]
fn gemini_that_is_killed_goes_on_with_its_conversation() {
    let is_silent = Arc::new(AtomicBool::new(false));
    let has_hung = is_silent.clone();
    let script = move |it: &ScriptedConversation| {
        let is_first = agent(it) == "implementer" && it.n_results == 1;
        match is_first && !has_hung.swap(true, Ordering::SeqCst) {
            true => ModelStep::Silence,
            false => works(it),
        }
    };
    let agents = "[agents.implementer]\nexecutors = [\"gemini\"]\n\
                  [agents.\"*\"]\nexecutors = [\"claude\"]\n";
    let agents = RealAgents::new(agents, script);
    let served = agents.serves();
    agents.workshop.start("s1");
    agents.workshop.until("s1", "the model is silent", |_| is_silent.load(Ordering::SeqCst));
    let record = attempt_record(&agents.workshop, "implementer");
    let pid = record["process"]["pid"].as_i64().unwrap().to_string();
    assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    check_completed(&agents);
    let seen = agents.model.seen();
    let last = seen.iter().rfind(|it| agent(it) == "implementer").unwrap();
    assert!(last.text.contains("You were interrupted"), "{}\n{}", last.text, messages(&served));
    assert!(last.n_results >= 1, "its first answer is still there");
}
