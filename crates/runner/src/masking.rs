//! Secrets that the user gives to programs, and the user's own folders: none of them is in anything that
//! leaves the runner, text or not. Masked rather than refused, for the reasons of ADR 0030.

mod tokens;

use std::path::Path;

use baton_core::lint::redacted;

use self::tokens::without_tokens;

/// In the place of a secret. Plain letters and a dot mean the same in JSON, XML, YAML and Markdown.
pub(crate) const SECRET: &str = "secret.masked";

/// A shorter value is in too many texts by chance.
const LEAST_SECRET: usize = 8;
/// Words that are joined by hyphens: a shorter value is in texts that mean something else.
const LEAST_JOINED: usize = 12;
/// A value that looks random, in a variable whose name says nothing.
const LEAST_RANDOM: usize = 20;
/// Where a text was cut, so much beside the cut may be a part of a secret that is not known by its part.
const LEAST_MARGIN: usize = 16 * 1024;

/// What is replaced in a text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Masking {
    /// In the order to replace them.
    values: Vec<MaskedValue>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct MaskedValue {
    text: String,
    meaning: ValueMeaning,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueMeaning {
    Secret,
    /// A folder with a slash at its end: paths in it are shown as relative ones.
    Workspace,
    Home,
}

impl Masking {
    /// The secrets among these variables.
    pub(crate) fn of_variables<'a>(
        variables: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let mut masking = Self::default();
        for (name, value) in variables {
            if is_secret(name, value) {
                masking.add_secret(value);
            } else if let Some(password) = password_of_address(value) {
                masking.add_secret(password);
            }
        }
        masking
    }

    /// A value that is always a secret, such as a token of ours.
    pub(crate) fn with_secret(mut self, value: &str) -> Self {
        self.add_secret(value);
        self
    }

    pub(crate) fn with_home(self, home: Option<&str>) -> Self {
        let home = home.unwrap_or_default().trim_end_matches('/');
        self.with_folder(home, ValueMeaning::Home)
    }

    pub(crate) fn with_workspace(self, workspace: &Path) -> Self {
        let path = format!("{}/", workspace.display());
        self.with_folder(&path, ValueMeaning::Workspace)
    }

    fn with_folder(mut self, folder: &str, meaning: ValueMeaning) -> Self {
        if folder.starts_with('/') && folder.len() > 1 {
            self.add(folder.to_owned(), meaning);
        }
        self
    }

    fn add_secret(&mut self, value: &str) {
        if value.len() < LEAST_SECRET {
            return;
        }
        let json = serde_json::Value::from(value).to_string();
        let xml = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        for form in [value, json.trim_matches('"'), &xml] {
            self.add(form.to_owned(), ValueMeaning::Secret);
        }
    }

    fn add(&mut self, text: String, meaning: ValueMeaning) {
        let value = MaskedValue { text, meaning };
        if self.values.contains(&value) {
            return;
        }
        self.values.push(value);
        // A value may be a part of a longer one, and the workspace is often below the home.
        let order =
            |it: &MaskedValue| (it.meaning != ValueMeaning::Secret, usize::MAX - it.text.len());
        self.values.sort_by_key(order);
    }

    pub(crate) fn mask(&self, text: &str) -> String {
        into_text(self.mask_bytes(text.as_bytes()))
    }

    pub(crate) fn mask_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        self.values.iter().fold(bytes.to_vec(), |bytes, value| value.masked(bytes))
    }

    /// What the user's own programs printed or changed, as it may leave the runner: without the values, and without
    /// what is a secret by its form.
    pub(crate) fn clean(&self, text: &str) -> String {
        into_text(self.clean_bytes(redacted(text).as_bytes()))
    }

    /// As [`Self::clean`], of a file that may be no text: it keeps what only looks like a secret.
    pub(crate) fn clean_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        without_tokens(self.mask_bytes(bytes))
    }

    /// How many bytes beside a cut are not shown.
    pub(crate) fn margin(&self) -> usize {
        let longest = self.values.iter().map(|it| it.text.len()).max().unwrap_or(0);
        longest.max(LEAST_MARGIN)
    }

    /// How many bytes at the end of a text may be the beginning of a value.
    pub(crate) fn n_begun(&self, text: &str) -> usize {
        let is_begun = |n: &usize| {
            let end = &text.as_bytes()[text.len() - n..];
            self.values.iter().any(|it| {
                let is_short =
                    it.text.len() > *n || (it.text.len() == *n && it.needs_what_follows());
                is_short && it.text.as_bytes().starts_with(end)
            })
        };
        let longest = self.values.iter().map(|it| it.text.len()).max().unwrap_or(0);
        // A value is text, so such a beginning is at the border of a character.
        (1..=longest.min(text.len()))
            .rev()
            .filter(|n| text.is_char_boundary(text.len() - n))
            .find(is_begun)
            .unwrap_or(0)
    }
}

impl MaskedValue {
    fn needs_what_follows(&self) -> bool {
        self.meaning == ValueMeaning::Home
    }

    fn masked(&self, bytes: Vec<u8>) -> Vec<u8> {
        let value = self.text.as_bytes();
        let Some(mut at) = position(&bytes, value) else { return bytes };
        let mut masked = Vec::with_capacity(bytes.len());
        let mut rest = bytes.as_slice();
        loop {
            let (before, after) = (&rest[..at], &rest[at + value.len()..]);
            masked.extend_from_slice(before);
            let replaced = self.mask_between(last_char(&masked), after);
            masked.extend_from_slice(replaced.map_or(value, str::as_bytes));
            rest = after;
            match position(rest, value) {
                Some(next) => at = next,
                None => break,
            }
        }
        masked.extend_from_slice(rest);
        masked
    }

    /// What stands in its place between these texts; `None` where it is a part of another name.
    fn mask_between(&self, before: Option<char>, after: &[u8]) -> Option<&'static str> {
        let is_of_name = |it: char| it.is_alphanumeric() || "_-.~".contains(it);
        let begins_path = !before.is_some_and(is_of_name);
        // Two characters.
        let after = String::from_utf8_lossy(&after[..after.len().min(8)]);
        let mut after = after.chars();
        match self.meaning {
            ValueMeaning::Secret => Some(SECRET),
            ValueMeaning::Workspace => begins_path.then_some(""),
            ValueMeaning::Home if !begins_path => None,
            ValueMeaning::Home => match after.next() {
                Some('/') => Some("~"),
                // At the end of a sentence.
                Some('.') if !after.next().is_some_and(is_of_name) => Some("~/"),
                Some(it) if is_of_name(it) => None,
                // Alone, `~` is nothing in YAML.
                Some(_) | None => Some("~/"),
            },
        }
    }
}

/// Where a value begins.
pub(super) fn position(bytes: &[u8], value: &[u8]) -> Option<usize> {
    let (first, others) = value.split_first()?;
    let mut from = 0;
    loop {
        from += bytes.get(from..)?.iter().position(|it| it == first)?;
        if bytes[from + 1..].starts_with(others) {
            return Some(from);
        }
        from += 1;
    }
}

/// What stands in the place of a value is text, so a text stays one.
fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn last_char(bytes: &[u8]) -> Option<char> {
    let end = &bytes[bytes.len().saturating_sub(4)..];
    String::from_utf8_lossy(end).chars().next_back()
}

/// Whether the value of a variable is one that must be seen by no one but the program that it is for.
fn is_secret(name: &str, value: &str) -> bool {
    let is_long = value.len() >= LEAST_SECRET;
    is_long && !is_plain(value) && (has_secret_name(name) || looks_random(value))
}

fn has_secret_name(name: &str) -> bool {
    const PARTS: [&str; 6] = ["TOKEN", "SECRET", "PASSW", "CREDENTIAL", "APIKEY", "PRIVATE"];
    const WORDS: [&str; 7] = ["KEY", "KEYS", "AUTH", "PASS", "PAT", "COOKIE", "PASSPHRASE"];
    let name = name.to_ascii_uppercase();
    PARTS.iter().any(|it| name.contains(it))
        || name.split('_').any(|it| WORDS.contains(&it))
        || name.ends_with("KEY")
}

/// What texts hold by chance: a word, a number, a path, or the address of a server.
fn is_plain(value: &str) -> bool {
    let is_word = value.chars().all(char::is_alphabetic)
        && value.chars().skip(1).all(|it| it.is_lowercase() == value.ends_with(char::is_lowercase));
    let is_joined = value.len() < LEAST_JOINED
        && value.chars().all(|it| it.is_ascii_lowercase() || "-_. ".contains(it));
    let is_number = value.len() < LEAST_RANDOM && value.chars().all(|it| it.is_ascii_digit());
    is_word || is_joined || is_number || value.starts_with('/') || value.contains("://")
}

fn looks_random(value: &str) -> bool {
    let has = |is: fn(&char) -> bool| value.chars().any(|it| is(&it));
    value.len() >= LEAST_RANDOM
        && value.chars().all(|it| it.is_ascii_alphanumeric() || "_-+=.".contains(it))
        && has(char::is_ascii_digit)
        && has(char::is_ascii_lowercase)
        && has(char::is_ascii_uppercase)
}

/// `https://name:password@host`.
fn password_of_address(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("://")?;
    let (login, _) = rest.split('/').next()?.rsplit_once('@')?;
    login.split_once(':').map(|(_, password)| password)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "Zq8vT3mW1xK9pL4s";

    #[track_caller]
    fn check_masked(name: &str, value: &str, expected: &str) {
        let masking = Masking::of_variables([(name, value)]);
        assert_eq!(masking.mask(&format!("it is {value}, so")), expected, "{name}={value}");
    }

    #[test]
    fn the_values_of_variables_that_look_secret_are_masked() {
        for (name, value) in [
            ("ANTHROPIC_API_KEY", KEY),
            ("GITHUB_TOKEN", "ghp_SECRET555"),
            ("db_password", "key-of-anthropic"),
            ("OPENAIKEY", "sk-12345"),
            ("LOGIN", "eyJhbGciOiJIUzI1NiJ9.e30"),
        ] {
            check_masked(name, value, "it is secret.masked, so");
        }
        check_masked(
            "GATEWAY_URL",
            "https://ada:k3k3k3k3@gateway/v1",
            "it is https://ada:secret.masked@gateway/v1, so",
        );
    }

    #[test]
    fn short_values_plain_words_paths_and_addresses_are_not_masked() {
        for (name, value) in [
            ("ANTHROPIC_API_KEY", "key"),
            ("AUTH_MODE", "automatic"),
            ("AUTH_MODE", "Disabled"),
            ("TOKEN_KIND", "long-lived"),
            ("MAX_TOKENS", "200000000"),
            ("SSH_KEY", "/home/ada/.ssh/key1"),
            ("TOKEN_URL", "https://login.example.org/1"),
            ("MODEL", "claude-sonnet-4-5-20250929"),
            ("ANTHROPIC_BASE_URL", "http://127.0.0.1:17171"),
        ] {
            check_masked(name, value, &format!("it is {value}, so"));
        }
    }

    #[test]
    fn a_secret_is_masked_as_it_is_spelt_in_json_and_xml() {
        let masking = Masking::of_variables([("A_SECRET", "a\"b\\c&d<1")]);
        let texts = ["a\"b\\c&d<1", r#"{"a": "a\"b\\c&d<1"}"#, "<a>a\"b\\c&amp;d&lt;1</a>"];
        let masked = texts.map(|it| masking.mask(it));
        assert_eq!(masked, [SECRET, r#"{"a": "secret.masked"}"#, "<a>secret.masked</a>"]);
    }

    #[test]
    fn a_masked_block_is_the_same_kind_of_document() {
        let masking = Masking::of_variables([("KEY", KEY)]).with_home(Some("/home/ada"));
        let block = format!("approach: {KEY}\nfolder: /home/ada\nfile: /home/ada/a.txt\n");
        let masked = masking.mask(&block);
        assert_eq!(masked, "approach: secret.masked\nfolder: ~/\nfile: ~/a.txt\n");
    }

    #[test]
    fn the_home_of_the_user_and_the_workspace_are_masked_as_whole_paths() {
        let home = Some("/home/ada/");
        let masking = Masking::default().with_home(home).with_workspace(Path::new("/home/ada/w/1"));
        for (text, expected) in [
            ("in /home/ada.", "in ~/."),
            ("in /home/ada.old", "in /home/ada.old"),
            ("file:///home/ada/x", "file://~/x"),
            ("/home/ada/x and '/home/ada'", "~/x and '~/'"),
            ("/home/ada/w/1/src/app.txt", "src/app.txt"),
            (
                "/home/adam/x, /mnt/home/ada/x, x/home/ada",
                "/home/adam/x, /mnt/home/ada/x, x/home/ada",
            ),
            ("PATH=/bin:/home/ada/bin", "PATH=/bin:~/bin"),
        ] {
            assert_eq!(masking.mask(text), expected);
        }
        assert_eq!(Masking::default().with_home(Some("/")).mask("/a/b"), "/a/b");
    }

    #[test]
    fn bytes_that_are_no_text_do_not_hide_a_secret() {
        let masking = Masking::of_variables([("API_KEY", KEY)])
            .with_home(Some("/home/ada"))
            .with_workspace(Path::new("/w/1"));
        for (bytes, expected) in [
            (format!("\u{1}{KEY}\u{2}").into_bytes(), b"\x01secret.masked\x02".to_vec()),
            (
                [b"caf\xe9 ", KEY.as_bytes(), b"\xff"].concat(),
                b"caf\xe9 secret.masked\xff".to_vec(),
            ),
            (b"\xe9/home/ada\xff /w/1/a".to_vec(), b"\xe9~/\xff a".to_vec()),
            ("ä/home/ada/x".as_bytes().to_vec(), "ä/home/ada/x".as_bytes().to_vec()),
        ] {
            assert_eq!(masking.clean_bytes(&bytes), expected);
        }
        let token = format!("baton-attempt.a.1.{}", "ab".repeat(32));
        assert_eq!(
            Masking::default().clean_bytes(&[b"\xff", token.as_bytes(), b"\xff"].concat()),
            b"\xffsecret.masked\xff"
        );
    }

    #[test]
    fn the_beginning_of_a_value_waits_for_the_rest() {
        let masking = Masking::default().with_secret("secret-token").with_home(Some("/home/ada"));
        assert_eq!(masking.n_begun("it is secret-"), "secret-".len());
        assert_eq!(masking.n_begun("it is secret-token"), 0);
        assert_eq!(masking.n_begun("at /home/ada"), "/home/ada".len(), "it may be /home/adam");
        assert_eq!(masking.n_begun("at /home/ada/"), 1, "the slash may begin the next one");
    }
}
