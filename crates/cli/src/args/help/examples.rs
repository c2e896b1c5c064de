//! Examples in the long help, by command. A test parses each of them.

pub(super) const EXAMPLES: &[(&str, &[&str])] = &[
    ("demo", &["baton demo --once", "baton demo --workflow gated-project --yes"]),
    (
        "do",
        &[
            "baton do \"Add user authentication\"",
            "baton do \"Fix the flaky test\" --agents claude,codex --budget 5usd",
            "baton do --continue",
        ],
    ),
    ("init", &["baton init", "baton init --project ~/shop"]),
    ("status", &["baton status", "baton status --json"]),
    ("open", &["baton open", "baton open shop:12", "baton open handoff:7 --print"]),
    (
        "story add",
        &[
            "baton story add shop:12 --title \"Customers can log in\"",
            "baton story add shop:13 --title \"Reset a password\" --depends-on shop:12 --priority 5",
            "baton story add shop:14 --acceptance \"a wrong password is refused\" --branch feat/login",
        ],
    ),
    ("story list", &["baton story list", "baton story ls --json"]),
    ("story show", &["baton story show shop:12"]),
    (
        "story edit",
        &[
            "baton story edit shop:12 --title \"Customers log in\" --priority 9",
            "baton story edit shop:12 --acceptance \"a wrong password is refused\"",
            "baton story edit shop:12 --depends-on ''",
        ],
    ),
    ("story import", &["baton story import stories.yaml", "baton story import -"]),
    (
        "run start",
        &[
            "baton run start",
            "baton run start shop:12",
            "baton run start shop:12 --workflow gated-project",
            "baton run start shop:12 --at review --reason \"the code was written by hand\"",
            "baton run start shop:12 --again",
        ],
    ),
    ("run list", &["baton run list", "baton run ls --all"]),
    ("run show", &["baton run show 3", "baton run show shop:12 --json"]),
    ("run pause", &["baton run pause shop:12 --reason \"until the release is out\""]),
    ("run resume", &["baton run resume shop:12"]),
    ("run cancel", &["baton run cancel 3 --reason \"no longer needed\""]),
    ("run goto", &["baton run goto 3 implement --reason \"the plan has changed\""]),
    (
        "run reroute",
        &[
            "baton run reroute shop:12 --to human --cause major_decision --reason \"every team is concerned\"",
        ],
    ),
    ("run skip", &["baton run skip 3 --reason \"nothing to document\""]),
    (
        "insights",
        &["baton insights", "baton insights --by edge --days 7 --workflow story-pipeline"],
    ),
    (
        "audit log",
        &["baton audit log", "baton audit log --agent reviewer --from 2026-11-01 --to 2026-11-30"],
    ),
    (
        "audit export",
        &[
            "baton audit export --format csv > handoffs.csv",
            "baton audit export --format jsonl --run shop:12",
            "baton audit export --format jsonl --events > log.jsonl",
        ],
    ),
    (
        "audit checkpoint",
        &["baton audit checkpoint", "baton audit checkpoint --out ~/kept/2026-11-17.checkpoint"],
    ),
    (
        "audit redact",
        &[
            "baton audit redact shop:12 HO-002 --part reason --reason \"it names a customer\" --dry-run",
            "baton audit redact 3 HO-002 --reason \"asked for by the customer\"",
        ],
    ),
    (
        "audit verify",
        &[
            "baton audit verify",
            "baton audit verify --checkpoint ~/kept/2026-11-17.checkpoint",
            "baton audit verify --export log.jsonl",
        ],
    ),
    ("workflow list", &["baton workflow list", "baton wf ls"]),
    ("workflow show", &["baton workflow show story-pipeline"]),
    (
        "workflow check",
        &["baton workflow check team", "baton workflow check .baton/workflows/team.yaml"],
    ),
    ("workflow graph", &["baton workflow graph story-pipeline > pipeline.mmd"]),
    ("workflow docs", &["baton workflow docs issue-to-merge > issue-to-merge.md"]),
    (
        "workflow new",
        &["baton workflow new hotfix --step fix=implementer --step check=reviewer --review check"],
    ),
    (
        "workflow simulate",
        &[
            "baton workflow simulate issue-to-merge --runs 1000 --seed 7",
            "baton workflow simulate feature-phases --script moves.txt",
        ],
    ),
    ("workflow diff", &["baton workflow diff shop:12"]),
    ("workflow eject", &["baton workflow eject story-pipeline"]),
    ("agent list", &["baton agent list"]),
    ("agent show", &["baton agent show reviewer"]),
    ("agent check", &["baton agent check", "baton agent check .baton/agents/coder.md"]),
    ("agent new", &["baton agent new coder --description \"Writes the code\""]),
    (
        "take",
        &[
            "baton take                              # the only handoff that is offered",
            "baton take shop:12",
            "baton take --by implementer --lease 300",
        ],
    ),
    (
        "done",
        &[
            "baton done --payload @result.json       # the only handoff that is held",
            "baton done shop:12 --payload @result.json",
            "baton done --by reviewer --outcome failure --payload @findings.json",
        ],
    ),
    (
        "handoff create",
        &[
            "baton handoff create --file handoff.yaml --run 3",
            "baton handoff create --story shop:12 --from analyst --to implementer --payload @plan.json",
        ],
    ),
    (
        "handoff list",
        &[
            "baton handoff list",
            "baton ho ls --agent reviewer",
            "baton handoff list --story shop:12 --all",
        ],
    ),
    (
        "handoff show",
        &[
            "baton handoff show 7",
            "baton handoff show shop:12",
            "baton handoff show 3/HO-002 --json",
        ],
    ),
    ("handoff files", &["baton handoff files 7", "baton handoff files shop:12 --json"]),
    (
        "handoff file",
        &[
            "baton handoff file 7 changes.diff",
            "baton handoff file 7 output.txt --output output.txt",
        ],
    ),
    (
        "handoff template",
        &[
            "baton handoff template 7 > result.json",
            "baton handoff template --story shop:12 --format yaml",
        ],
    ),
    ("handoff accept", &["baton handoff accept 7", "baton handoff accept shop:12 --lease 300"]),
    ("handoff heartbeat", &["baton handoff heartbeat 7 --fence 1"]),
    ("handoff clarify", &["baton handoff clarify 7 --question \"Which database is meant?\""]),
    ("handoff answer", &["baton handoff answer 8 --text \"PostgreSQL 16\""]),
    ("handoff release", &["baton handoff release 7 --reason \"out of budget\""]),
    ("handoff delegate", &["baton handoff delegate 7 --to test-writer --payload @part.json"]),
    ("handoff return", &["baton handoff return 8 --payload @result.json"]),
    ("handoff escalate", &["baton handoff escalate 7 --payload @question.json"]),
    ("handoff reject", &["baton handoff reject 7 --reason \"src/login.rs has no test\""]),
    (
        "handoff complete",
        &[
            "baton handoff complete 7 --payload @result.json",
            "baton handoff complete shop:12 --outcome failure --payload -",
        ],
    ),
    ("handoff cancel", &["baton handoff cancel 7 --reason \"sent too early\""]),
    ("handoff timeout", &["baton handoff timeout 7"]),
    ("prompt", &["baton prompt 7", "baton prompt shop:12 --face block > prompt.md"]),
    ("inbox", &["baton inbox"]),
    ("approve", &["baton approve 9", "baton approve shop:12 --comment \"go ahead\""]),
    ("delegate", &["baton delegate 9 --to ben --comment \"I am away this week\""]),
    ("reject", &["baton reject 9 --comment \"the estimate is missing\""]),
    ("modify", &["baton modify 9 --payload @package.json --comment \"smaller scope\""]),
    (
        "answer",
        &[
            "baton answer 9 --comment \"use the second plan\"",
            "baton answer 9 continue",
            "baton answer 9 hand-to on-call",
        ],
    ),
    (
        "evidence",
        &["baton evidence 9 lint passed", "baton evidence 9 tests failed --detail @tests.log"],
    ),
    (
        "run log",
        &["baton run log shop:12", "baton run log shop:12 -f", "baton run log 3 --all --json"],
    ),
    (
        "run say",
        &[
            "baton run say shop:12 \"the tests pass\"",
            "baton run say 3 @notes.md --agent implementer",
        ],
    ),
    ("decision list", &["baton decision list shop:12", "baton decision list 3 --all"]),
    ("decision show", &["baton decision show shop:12 2"]),
    (
        "decision record",
        &[
            "baton decision record shop:12 \"Use SQLite\" --because \"one file\" --subject storage",
            "baton decision record 3 \"Version by path\" --agent architect --instead-of headers",
        ],
    ),
    (
        "decision supersede",
        &["baton decision supersede shop:12 2 \"Use PostgreSQL\" --because \"many nodes\""],
    ),
    ("decision lock", &["baton decision lock shop:12 2 --reason \"the contract says so\""]),
    ("context list", &["baton context list shop:12"]),
    ("context get", &["baton context get shop:12 api-design --agent developer"]),
    (
        "context set",
        &[
            "baton context set shop:12 api-design @design.md --if-version 0",
            "baton context set 3 api-design @design.md --if-version 4 --agent architect",
        ],
    ),
    ("context history", &["baton context history shop:12 api-design"]),
    ("question list", &["baton question list shop:12"]),
    (
        "question ask",
        &["baton question ask shop:12 developer architect \"Which database?\" --wait"],
    ),
    ("question answer", &["baton question answer shop:12 1 \"SQLite\" --agent architect"]),
    ("question wait", &["baton question wait shop:12 1"]),
    (
        "lint",
        &["baton lint handoff.yaml", "baton lint handoff.json --edge analyst:implementer --sarif"],
    ),
    (
        "extract",
        &[
            "agent < prompt.md | baton extract - > handoff.json",
            "baton extract output.txt --to yaml",
        ],
    ),
    (
        "convert",
        &["baton convert handoff.xml --to json", "baton convert - --from yaml --to markdown"],
    ),
    ("schema", &["baton schema", "baton schema workflow > workflow.schema.json"]),
    ("doctor", &["baton doctor"]),
    ("verify", &["baton verify"]),
    ("backup", &["baton backup shop.baton"]),
    ("restore", &["baton restore shop.baton", "baton restore shop.baton --replace"]),
    ("recover", &["baton recover --dry-run", "baton recover --from damaged/ --to saved/"]),
    (
        "migrate",
        &[
            "baton migrate --from .baton/data --to postgres://baton@db.example.org/shop",
            "baton migrate --from postgres://baton@db.example.org/shop --to saved/",
        ],
    ),
    ("push", &["baton push", "baton push --dry-run", "baton push --clear"]),
    ("archive rebuild", &["baton archive rebuild"]),
    ("serve", &["baton serve", "baton serve --listen 127.0.0.1:0"]),
    ("watch", &["baton watch", "baton watch shop:12 --all"]),
    ("explain", &["baton explain behind_gate", "baton explain"]),
    (
        "completions",
        &[
            "baton completions bash > ~/.local/share/bash-completion/completions/baton",
            "baton completions zsh > ~/.zfunc/_baton   # with ~/.zfunc in $fpath before compinit",
            "baton completions fish > ~/.config/fish/completions/baton.fish",
            "baton completions powershell > baton.ps1   # and `. ./baton.ps1` in $PROFILE",
            "baton completions elvish > ~/.config/elvish/lib/baton.elv   # and `use baton` in rc.elv",
        ],
    ),
];
