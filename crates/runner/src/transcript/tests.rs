use expect_test::{Expect, expect};
use jiff::tz::TimeZone;

use super::*;

/// Reads a recorded transcript, in pieces of several sizes.
#[track_caller]
fn check(program: AgentProgram, recorded: &str, expected: Expect) {
    let whole = read(program, recorded, recorded.len());
    for size in [1, 7, 4096] {
        assert_eq!(read(program, recorded, size), whole, "in pieces of {size} bytes");
    }
    expected.assert_eq(&whole);
}

fn read(program: AgentProgram, recorded: &str, size: usize) -> String {
    let mut transcript = Transcript::new(program);
    let mut parts = TranscriptPart::default();
    for chunk in recorded.as_bytes().chunks(size) {
        let part = transcript.push(chunk);
        parts.shown += &part.shown;
        parts.words += &part.words;
    }
    let (part, report) = transcript.finish();
    parts.shown += &part.shown;
    parts.words += &part.words;
    format!("shown:\n{}\nwords:\n{}\n{report:#?}\n", parts.shown, parts.words)
}

#[test]
fn claude_code_says_what_it_did_and_what_that_cost() {
    check(
        AgentProgram::Claude,
        include_str!("../../tests/fixtures/claude/success.jsonl"),
        expect![[r#"
            shown:
            [Bash] echo hi > a.txt && cat a.txt
            [Write] /home/ada/shop/b.txt
            Done. All good.

            words:
            Done. All good.
            Done. All good.

            AgentReport {
                session: Some(
                    "35f9356f-7b56-4805-99fc-50e18fa4bfd2",
                ),
                usage: Usage {
                    input_tokens: 30,
                    cached_tokens: 0,
                    output_tokens: 15,
                    micro_usd: Some(
                        420,
                    ),
                    work_ms: 0,
                },
                rate_limit: None,
                counted: Some(
                    "msg_2",
                ),
                n_denied: 0,
            }
        "#]],
    );
}

#[test]
fn claude_code_at_its_rate_limit_is_known_by_its_answer() {
    check(
        AgentProgram::Claude,
        include_str!("../../tests/fixtures/claude/rate_limited.jsonl"),
        expect![[r#"
            shown:
            API Error: Request rejected (429) · This request would exceed your account's rate limit. Please try again later.

            words:

            AgentReport {
                session: Some(
                    "617078a7-b88e-4c2f-bc52-afe106234752",
                ),
                usage: Usage {
                    input_tokens: 0,
                    cached_tokens: 0,
                    output_tokens: 0,
                    micro_usd: Some(
                        0,
                    ),
                    work_ms: 0,
                },
                rate_limit: Some(
                    RateLimit {
                        message: "API Error: Request rejected (429) · This request would exceed your account's rate limit. Please try again later.",
                        until: None,
                    },
                ),
                counted: None,
                n_denied: 0,
            }
        "#]],
    );
}

#[test]
fn a_warning_of_codex_is_no_failure() {
    check(
        AgentProgram::Codex,
        include_str!("../../tests/fixtures/codex/success.jsonl"),
        expect![[r#"
            shown:
            Model metadata for `fake-1` not found. Defaulting to fallback metadata; this can degrade performance and cause issues.
            [command] /bin/bash -lc 'echo hi > c.txt; cat c.txt'
            Done by codex.

            words:
            Done by codex.

            AgentReport {
                session: Some(
                    "01a1eb06-1d8a-7dc2-8111-a43d1dbb8ba5",
                ),
                usage: Usage {
                    input_tokens: 20,
                    cached_tokens: 0,
                    output_tokens: 10,
                    micro_usd: None,
                    work_ms: 0,
                },
                rate_limit: None,
                counted: None,
                n_denied: 0,
            }
        "#]],
    );
}

#[test]
fn codex_at_its_rate_limit_says_when_it_ends() {
    let message = "You've hit your usage limit, or try again at Nov 18th, 2026 11:06 AM.";
    let now = "2026-11-18T10:00:00Z".parse().unwrap();
    let reset = crate::rate_limit::reset_time(message, now, &TimeZone::UTC);
    assert_eq!(reset, Some("2026-11-18T11:06:00Z".parse().unwrap()));
    let recorded = include_str!("../../tests/fixtures/codex/rate_limited.jsonl");
    assert!(read(AgentProgram::Codex, recorded, 100).contains("hit your usage limit"));
}

#[test]
fn gemini_says_what_it_did() {
    check(
        AgentProgram::Gemini,
        include_str!("../../tests/fixtures/gemini/success.jsonl"),
        expect![[r#"
            shown:

            [write_file] src/app.txt

            [run_shell_command] git status
            Done by gemini.

            words:


            Done by gemini.

            AgentReport {
                session: Some(
                    "272daca7-d9d5-4e93-8a91-0dd9f941abf8",
                ),
                usage: Usage {
                    input_tokens: 300,
                    cached_tokens: 0,
                    output_tokens: 60,
                    micro_usd: None,
                    work_ms: 0,
                },
                rate_limit: None,
                counted: None,
                n_denied: 0,
            }
        "#]],
    );
}

#[test]
fn gemini_at_its_daily_quota_is_known_by_its_answer() {
    check(
        AgentProgram::Gemini,
        include_str!("../../tests/fixtures/gemini/daily_quota.jsonl"),
        expect![[r#"
            shown:

            [API Error: You have exhausted your daily quota on this model.]
            Please wait and try again later. To increase your limits, request a quota increase through AI Studio, or switch to another /auth method

            words:


            AgentReport {
                session: Some(
                    "d096b54c-ee99-46fe-9aca-35ce3f7bcfed",
                ),
                usage: Usage {
                    input_tokens: 0,
                    cached_tokens: 0,
                    output_tokens: 0,
                    micro_usd: None,
                    work_ms: 0,
                },
                rate_limit: Some(
                    RateLimit {
                        message: "[API Error: You have exhausted your daily quota on this model.]\nPlease wait and try again later. To increase your limits, request a quota increase through AI Studio, or switch to another /auth method",
                        until: None,
                    },
                ),
                counted: None,
                n_denied: 0,
            }
        "#]],
    );
}

#[test]
fn gemini_at_its_rate_limit_says_how_long_to_wait() {
    let recorded = include_str!("../../tests/fixtures/gemini/rate_limited.jsonl");
    let mut transcript = Transcript::new(AgentProgram::Gemini);
    transcript.push(recorded.as_bytes());
    let limit = transcript.report().rate_limit.clone().unwrap();
    assert!(limit.message.contains("You exceeded your current quota"), "{limit:?}");
    assert_eq!(limit.until, Some("2026-11-18T06:26:52.806Z".parse().unwrap()));
    let now: Timestamp = "2026-11-18T05:00:00Z".parse().unwrap();
    let reset = |message: &str| gemini::reset(message, now).map(|it| it.to_string());
    assert_eq!(reset("Please retry in 1.5s."), Some("2026-11-18T05:00:01.5Z".to_owned()));
    assert_eq!(reset("Suggested retry after 500ms."), Some("2026-11-18T05:00:00.5Z".to_owned()));
    for other in ["", "Suggested retry after a while.", "Please retry in 5", "Please retry in 5h"] {
        assert_eq!(reset(other), None, "{other}");
    }
}

#[test]
fn what_gemini_may_not_do_is_counted() {
    let recorded = include_str!("../../tests/fixtures/gemini/denied.jsonl");
    let mut transcript = Transcript::new(AgentProgram::Gemini);
    let part = transcript.push(recorded.as_bytes());
    assert_eq!(transcript.report().n_denied, 1);
    assert_eq!(part.words.trim(), "Done by gemini.");
}

#[test]
fn what_a_tool_has_read_is_not_among_the_words() {
    let line = serde_json::json!({"type": "user", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "1", "content": "{\"action\": \"create\"}"}]}});
    let mut transcript = Transcript::new(AgentProgram::Claude);
    assert_eq!(transcript.push(format!("{line}\n").as_bytes()), TranscriptPart::default());
}

#[test]
fn a_line_that_is_too_long_is_left_out_and_the_next_one_is_read() {
    let mut transcript = Transcript::new(AgentProgram::Codex);
    for _ in 0..=MOST_LINE_BYTES / 1024 {
        assert_eq!(transcript.push(&[b'x'; 1024]), TranscriptPart::default());
    }
    assert!(transcript.partial.is_empty());
    let next =
        b"x\n{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"hi\"}}\n";
    assert_eq!(transcript.push(next).words, "hi\n");
}

/// What Claude Code prints where `--max-budget-usd` ended it.
#[test]
fn a_program_that_a_budget_ended_has_used_what_its_models_and_messages_say() {
    let message = serde_json::json!({"type": "assistant", "message": {"id": "m1", "content": [],
        "usage": {"input_tokens": 100, "output_tokens": 7}}});
    let ended = |models: serde_json::Value| {
        let result = serde_json::json!({"type": "result", "subtype": "error_max_budget_usd", "is_error": true,
            "total_cost_usd": 1.0, "usage": {"input_tokens": 0, "output_tokens": 0}, "modelUsage": models});
        let mut transcript = Transcript::new(AgentProgram::Claude);
        transcript.push(format!("{message}\n{result}\n").as_bytes());
        let Usage { input_tokens, cached_tokens, output_tokens, micro_usd, .. } =
            transcript.finish().1.usage;
        (input_tokens, cached_tokens, output_tokens, micro_usd)
    };
    let models = serde_json::json!({
        "large": {"inputTokens": 90, "outputTokens": 20, "cacheReadInputTokens": 30, "costUSD": 0.9},
        "small": {"inputTokens": 5, "outputTokens": 1, "cacheCreationInputTokens": 2},
    });
    assert_eq!(ended(models), (127, 30, 21, Some(1_000_000)));
    assert_eq!(ended(serde_json::json!({})), (100, 0, 7, Some(1_000_000)));
}
