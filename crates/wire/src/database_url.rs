//! The address of a PostgreSQL database. Whatever is printed of it has no password.

use std::fmt;

/// `postgres://USER:PASSWORD@HOST:PORT/NAME?...`
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl {
    text: String,
}

/// What is wrong with an address. The address is not in the message: it may hold a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DatabaseUrlError {
    #[error("the address of a database begins with `postgres://` or `postgresql://`")]
    Scheme,
    #[error("the address of a database is longer than 2,000 characters")]
    TooLong,
    #[error(
        "the address of a database has no blanks and no control characters: write them as `%20`"
    )]
    Blank,
}

/// Options that only Baton knows.
const OURS: [&str; 4] = ["schema", "pool", "pooler", "statement_timeout"];
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];
const MOST_CHARS: usize = 2000;
const MASK: &str = "***";

impl DatabaseUrl {
    pub fn parse(text: &str) -> Result<Self, DatabaseUrlError> {
        let text = text.trim();
        if !SCHEMES.iter().any(|it| text.starts_with(it)) {
            return Err(DatabaseUrlError::Scheme);
        }
        if text.chars().count() > MOST_CHARS {
            return Err(DatabaseUrlError::TooLong);
        }
        if text.chars().any(|it| it.is_control() || it.is_whitespace()) {
            return Err(DatabaseUrlError::Blank);
        }
        Ok(Self { text: text.to_owned() })
    }

    /// The whole address, for the one who connects.
    pub fn with_password(&self) -> &str {
        &self.text
    }

    pub fn has_password(&self) -> bool {
        self.masked(MASK) != self.text
    }

    /// The address as it can be typed in a command: the program asks for the password.
    pub fn without_password(&self) -> String {
        self.masked("").replace(":@", "@")
    }

    /// The address as PostgreSQL's own programs take it: without a password, and without the options that
    /// are Baton's.
    pub fn for_other_programs(&self) -> String {
        let url = self.without_password();
        let Some((address, options)) = url.split_once('?') else { return url };
        let is_ours = |it: &&str| OURS.contains(&it.split_once('=').map_or(*it, |(name, _)| name));
        let others: Vec<&str> = options.split('&').filter(|it| !is_ours(it)).collect();
        match others.is_empty() {
            true => address.to_owned(),
            false => format!("{address}?{}", others.join("&")),
        }
    }

    /// The schema that it names.
    pub fn schema(&self) -> Option<&str> {
        let (_, options) = self.text.split_once('?')?;
        options.split('&').find_map(|it| it.strip_prefix("schema="))
    }

    /// A message of another program, in which the password may stand.
    pub fn mask_in(&self, message: &str) -> String {
        let mut masked = message.replace(&self.text, &self.to_string());
        for secret in self.secrets() {
            // A short one would hide letters of ordinary words, and tell by that what it is.
            if secret.len() >= 4 {
                masked = masked.replace(secret, MASK);
            }
        }
        masked
    }

    /// Hides too much rather than too little: an `@` counts as the end of a password wherever it
    /// stands, because a password that should have been encoded may hold any character.
    fn masked(&self, mask: &str) -> String {
        let (scheme, rest) = self.split_scheme();
        let shown = match rest.split_once('?') {
            Some((before, query)) => format!("{before}?{}", masked_query(query, mask)),
            None => rest.to_owned(),
        };
        let user = shown
            .rsplit_once('@')
            .map_or_else(|| rest.contains('@').then_some((shown.as_str(), "")), Some);
        match user.and_then(|(user, host)| Some((user.split_once(':')?, host))) {
            Some(((name, password), host)) if !password.is_empty() => {
                format!("{scheme}{name}:{mask}@{host}")
            }
            Some(_) | None => format!("{scheme}{shown}"),
        }
    }

    fn split_scheme(&self) -> (&str, &str) {
        let end = self.text.find("://").map_or(0, |it| it + 3);
        self.text.split_at(end)
    }

    /// The password, as it is written here.
    fn secrets(&self) -> Vec<&str> {
        let (_, rest) = self.split_scheme();
        let user = rest.rsplit_once('@').and_then(|(user, _)| user.split_once(':'));
        let of_query = rest.split_once('?').map(|(_, it)| it.split('&')).into_iter().flatten();
        let of_query = of_query.filter_map(|it| it.split_once('='));
        let of_query = of_query.filter(|(key, _)| is_secret(key)).map(|(_, value)| value);
        user.map(|(_, password)| password).into_iter().chain(of_query).collect()
    }
}

fn masked_query(query: &str, mask: &str) -> String {
    let parts = query.split('&').map(|part| match part.split_once('=') {
        Some((key, value)) if is_secret(key) && !value.is_empty() => format!("{key}={mask}"),
        Some(_) | None => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("&")
}

/// An encoded key may be one too.
fn is_secret(key: &str) -> bool {
    key.to_ascii_lowercase().contains("pass") || key.contains('%')
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.masked(MASK))
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_shown(text: &str, expected: &str) {
        let url = DatabaseUrl::parse(text).unwrap();
        assert_eq!(url.to_string(), expected);
        assert_eq!(format!("{url:?}"), format!("DatabaseUrl({expected})"));
        assert_eq!(url.with_password(), text);
        assert_eq!(url.has_password(), text != expected);
    }

    #[test]
    fn a_password_is_never_shown() {
        for (text, expected) in [
            ("postgres://h/db", "postgres://h/db"),
            ("postgresql://ada@h:5432/db", "postgresql://ada@h:5432/db"),
            ("postgres://ada:geheim@h/db", "postgres://ada:***@h/db"),
            ("postgres://ada:ge:he@im@h/db", "postgres://ada:***@h/db"),
            ("postgres://ada:ge/heim@h/db", "postgres://ada:***@h/db"),
            ("postgres://ada:ge?heim@h/db", "postgres://ada:***@h/db"),
            ("postgres://ada:ge#heim@h/db", "postgres://ada:***@h/db"),
            ("postgres://:geheim@h/db", "postgres://:***@h/db"),
            ("postgres://h/db?user=ada&password=geheim", "postgres://h/db?user=ada&password=***"),
            ("postgres://h/db?PassWord=geheim&x=1", "postgres://h/db?PassWord=***&x=1"),
            ("postgres://h/db?p%61ssword=geheim", "postgres://h/db?p%61ssword=***"),
            (
                "postgres://a:b@h/db?schema=s&sslpassword=c",
                "postgres://a:***@h/db?schema=s&sslpassword=***",
            ),
            ("postgres://a:b@h/db?password=c@d", "postgres://a:***@h/db?password=***"),
            ("postgres://a:b?password=c@h/db", "postgres://a:***@"),
            ("postgres://ada:ge@im/x@h/db", "postgres://ada:***@h/db"),
            ("postgres://ada:@h/db", "postgres://ada:@h/db"),
            ("postgres://h/db?application_name=a@b", "postgres://h/db?application_name=a@b"),
        ] {
            check_shown(text, expected);
        }
    }

    #[test]
    fn a_message_of_another_program_loses_it_too() {
        let url = DatabaseUrl::parse("postgres://ada:geheim@h/db?sslpassword=streng").unwrap();
        let message = "cannot use postgres://ada:geheim@h/db?sslpassword=streng: geheim, streng";
        assert_eq!(
            url.mask_in(message),
            "cannot use postgres://ada:***@h/db?sslpassword=***: ***, ***"
        );
    }

    #[test]
    fn a_command_has_no_password() {
        let url = DatabaseUrl::parse("postgres://ada:geheim@h/db?schema=s").unwrap();
        assert_eq!(url.without_password(), "postgres://ada@h/db?schema=s");
    }

    #[test]
    fn other_programs_get_no_option_of_ours() {
        for (text, expected, schema) in [
            (
                "postgres://ada:geheim@h/db?schema=s&pool=4&sslmode=require&statement_timeout=9",
                "postgres://ada@h/db?sslmode=require",
                Some("s"),
            ),
            ("postgres://h/db?pooler=transaction", "postgres://h/db", None),
            ("postgres://h/db", "postgres://h/db", None),
        ] {
            let url = DatabaseUrl::parse(text).unwrap();
            assert_eq!((url.for_other_programs().as_str(), url.schema()), (expected, schema));
        }
    }

    #[test]
    fn other_addresses_are_refused_without_being_repeated() {
        for (text, error) in [
            ("mysql://ada:geheim@h/db", DatabaseUrlError::Scheme),
            ("host=h password=geheim", DatabaseUrlError::Scheme),
            ("", DatabaseUrlError::Scheme),
            ("postgres://ada:ge heim@h/db", DatabaseUrlError::Blank),
            ("postgres://h/d\u{7}", DatabaseUrlError::Blank),
        ] {
            assert_eq!(DatabaseUrl::parse(text), Err(error), "{text}");
            assert!(!error.to_string().contains("geheim"));
        }
    }
}
