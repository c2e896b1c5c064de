//! Arrows between our crates point one way.

use anyhow::Result;

use crate::cargo::{self, DependencyKind, DependencySource, Package};

/// Which of our crates each crate may use. A line here is an architectural decision: a change to
/// it needs a line in ARCHITECTURE.md too.
const MAY_USE: &[MayUse] = &[
    MayUse { name: "baton-core", code: &[], tests: &[] },
    MayUse { name: "baton-files", code: &[], tests: &[] },
    MayUse { name: "baton-fake-model", code: &[], tests: &[] },
    MayUse { name: "baton-hostile", code: &[], tests: &[] },
    MayUse { name: "baton-wire", code: &["baton-core"], tests: &["baton-hostile"] },
    MayUse { name: "baton-api", code: &["baton-core", "baton-wire"], tests: &[] },
    MayUse { name: "baton-store", code: &["baton-core", "baton-wire"], tests: &[] },
    MayUse {
        name: "baton-store-tests",
        code: &["baton-core", "baton-store", "baton-wire"],
        tests: &[],
    },
    MayUse {
        name: "baton-store-postgres",
        code: &["baton-core", "baton-store", "baton-wire"],
        tests: &["baton-store-tests", "baton-test-postgres"],
    },
    MayUse {
        name: "baton-store-sqlite",
        code: &["baton-core", "baton-files", "baton-store", "baton-wire"],
        tests: &["baton-store-tests"],
    },
    MayUse {
        name: "baton-engine",
        code: &["baton-core", "baton-store", "baton-wire"],
        tests: &[
            "baton-hostile",
            "baton-store-postgres",
            "baton-store-sqlite",
            "baton-store-tests",
            "baton-test-postgres",
            "baton-views",
        ],
    },
    MayUse {
        name: "baton-views",
        code: &["baton-core", "baton-engine", "baton-files", "baton-store", "baton-wire"],
        tests: &["baton-hostile", "baton-store-tests"],
    },
    MayUse {
        name: "baton-http",
        code: &[
            "baton-api",
            "baton-core",
            "baton-engine",
            "baton-store",
            "baton-views",
            "baton-wire",
        ],
        tests: &[
            "baton-hostile",
            "baton-store-postgres",
            "baton-store-sqlite",
            "baton-store-tests",
            "baton-test-postgres",
        ],
    },
    MayUse {
        name: "baton-recover",
        code: &[
            "baton-core",
            "baton-engine",
            "baton-files",
            "baton-store",
            "baton-store-sqlite",
            "baton-views",
            "baton-wire",
        ],
        tests: &["baton-store-tests"],
    },
    MayUse {
        name: "baton-runner",
        code: &["baton-api", "baton-core", "baton-files", "baton-wire"],
        tests: &[],
    },
    MayUse {
        name: "baton-cli",
        code: EVERYTHING,
        tests: &["baton-fake-model", "baton-hostile", "baton-test-postgres"],
    },
    MayUse { name: "baton-load", code: FOR_LOAD, tests: &[] },
    MayUse { name: "baton-test-postgres", code: &[], tests: &[] },
    MayUse { name: "xtask", code: &["baton-test-postgres"], tests: &[] },
];

/// For the crates that put the parts together.
const EVERYTHING: &[&str] = &[
    "baton-api",
    "baton-core",
    "baton-engine",
    "baton-files",
    "baton-http",
    "baton-recover",
    "baton-runner",
    "baton-store",
    "baton-store-postgres",
    "baton-store-sqlite",
    "baton-views",
    "baton-wire",
];

/// For the crate that puts load on a server and kills it.
const FOR_LOAD: &[&str] = &[
    "baton-core",
    "baton-engine",
    "baton-fake-model",
    "baton-hostile",
    "baton-http",
    "baton-store",
    "baton-store-sqlite",
    "baton-test-postgres",
    "baton-wire",
];

struct MayUse {
    name: &'static str,
    code: &'static [&'static str],
    /// What its tests may use besides.
    tests: &'static [&'static str],
}

pub(super) fn check() -> Result<Vec<String>> {
    Ok(cargo::packages()?.iter().flat_map(problems).collect())
}

fn problems(package: &Package) -> Vec<String> {
    let name = &package.name;
    let Some(may_use) = MAY_USE.iter().find(|it| it.name == name) else {
        return vec![format!("`{name}` is not in MAY_USE of {}: say what it may use", file!())];
    };
    let ours = package.dependencies.iter().filter(|it| it.source == DependencySource::Ours);
    ours.filter(|dependency| {
        let it = dependency.name.as_str();
        match dependency.kind {
            DependencyKind::Normal | DependencyKind::Build => !may_use.code.contains(&it),
            DependencyKind::Dev => !may_use.code.contains(&it) && !may_use.tests.contains(&it),
        }
    })
    .map(|it| format!("`{name}` must not use `{}`; see MAY_USE in {}", it.name, file!()))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo::Dependency;

    #[test]
    fn crates_use_only_what_they_may() {
        crate::tidy::assert_holds(check);
    }

    #[track_caller]
    fn check_problems(name: &str, uses: &str, kind: DependencyKind, expected: usize) {
        let source = DependencySource::Ours;
        let dependencies = vec![Dependency { name: uses.to_owned(), kind, source }];
        let package = Package { name: name.to_owned(), dependencies };
        assert_eq!(problems(&package).len(), expected, "{name} using {uses}");
    }

    #[test]
    fn what_tests_may_use_the_code_may_not() {
        check_problems("baton-engine", "baton-core", DependencyKind::Normal, 0);
        check_problems("baton-engine", "baton-core", DependencyKind::Dev, 0);
        check_problems("baton-engine", "baton-store-tests", DependencyKind::Dev, 0);
        check_problems("baton-engine", "baton-store-tests", DependencyKind::Normal, 1);
        check_problems("baton-engine", "baton-store-tests", DependencyKind::Build, 1);
        check_problems("baton-core", "baton-wire", DependencyKind::Dev, 1);
    }

    #[test]
    fn a_crate_that_is_not_in_the_table_is_a_problem() {
        check_problems("baton-new", "baton-core", DependencyKind::Normal, 1);
    }
}
