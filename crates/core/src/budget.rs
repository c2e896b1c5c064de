//! What agents use (tokens, money, time) and how much of it they may. All of it in whole numbers:
//! money is counted in millionths of a US dollar.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::named::named;
use crate::names::{AgentId, StepId};

/// What an agent's program used in one attempt, or several of them together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// With the cached ones.
    pub input_tokens: u64,
    /// Of the input, what the provider had in its cache.
    #[serde(default, skip_serializing_if = "is_none_used")]
    pub cached_tokens: u64,
    pub output_tokens: u64,
    /// `None` where the program does not say what it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micro_usd: Option<u64>,
    /// How long the program was at work. Waiting for a rate limit is no work.
    pub work_ms: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_none_used(n: &u64) -> bool {
    *n == 0
}

/// How much may be used. What is not set is not limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Budget {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micro_usd: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_ms: Option<u64>,
}

/// Whose budget it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetOwner {
    Run,
    Step(StepId),
    /// The work that goes from one step to another.
    Edge {
        from: StepId,
        to: StepId,
    },
    Agent(AgentId),
}

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum BudgetUnit {
        Tokens = "tokens",
        MicroUsd = "micro_usd",
        WorkMs = "work_ms",
    }
}

impl BudgetUnit {
    /// What it is an amount of, in a sentence.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::MicroUsd => "money",
            Self::WorkMs => "work time",
        }
    }
}

/// A budget that is used up: why a person is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReachedBudget {
    pub of: BudgetOwner,
    pub unit: BudgetUnit,
    pub used: u64,
    pub most: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is no budget; write an amount of money, tokens or work time, such as `5usd`, `200000tokens` or `2h`, or several, separated by commas"
)]
pub struct BudgetError {
    text: String,
}

const MOST: u64 = 1 << 50;

impl Usage {
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let cost = match (self.micro_usd, other.micro_usd) {
            (None, None) => None,
            (one, two) => Some(one.unwrap_or(0).saturating_add(two.unwrap_or(0))),
        };
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            cached_tokens: self.cached_tokens.saturating_add(other.cached_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            micro_usd: cost,
            work_ms: self.work_ms.saturating_add(other.work_ms),
        }
    }

    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// How much of a unit was used.
    pub fn amount(&self, unit: BudgetUnit) -> u64 {
        match unit {
            BudgetUnit::Tokens => self.tokens(),
            BudgetUnit::MicroUsd => self.micro_usd.unwrap_or(0),
            BudgetUnit::WorkMs => self.work_ms,
        }
    }

    /// No single report is larger: a sum of many still fits.
    pub fn is_plausible(&self) -> bool {
        let amounts = [self.input_tokens, self.output_tokens, self.work_ms];
        let cost = self.micro_usd.unwrap_or(0);
        amounts.into_iter().chain([cost]).all(|it| it <= MOST)
            && self.cached_tokens <= self.input_tokens
    }
}

impl Budget {
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }

    pub fn limit(&self, unit: BudgetUnit) -> Option<u64> {
        match unit {
            BudgetUnit::Tokens => self.tokens,
            BudgetUnit::MicroUsd => self.micro_usd,
            BudgetUnit::WorkMs => self.work_ms,
        }
    }

    /// So many times as much.
    #[must_use]
    pub fn times(self, n: u64) -> Self {
        let times = |it: Option<u64>| it.map(|it| it.saturating_mul(n));
        Self {
            tokens: times(self.tokens),
            micro_usd: times(self.micro_usd),
            work_ms: times(self.work_ms),
        }
    }

    /// What is left of it.
    #[must_use]
    pub fn less(self, used: &Usage) -> Self {
        let left = |unit| self.limit(unit).map(|it| it.saturating_sub(used.amount(unit)));
        Self {
            tokens: left(BudgetUnit::Tokens),
            micro_usd: left(BudgetUnit::MicroUsd),
            work_ms: left(BudgetUnit::WorkMs),
        }
    }

    /// The smaller amount of each unit.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let least = |unit| match (self.limit(unit), other.limit(unit)) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        Self {
            tokens: least(BudgetUnit::Tokens),
            micro_usd: least(BudgetUnit::MicroUsd),
            work_ms: least(BudgetUnit::WorkMs),
        }
    }

    /// The first unit of which nothing is left.
    pub fn reached(&self, used: &Usage) -> Option<BudgetUnit> {
        BudgetUnit::ALL.into_iter().find(|unit| {
            let most = self.limit(*unit);
            most.is_some_and(|most| used.amount(*unit) >= most)
        })
    }

    /// `5usd`, `200000tokens`, `2h`; several of them separated by commas or blanks.
    pub fn parse(text: &str) -> Result<Self, BudgetError> {
        let wrong = || BudgetError { text: text.chars().take(100).collect() };
        let mut budget = Self::default();
        let separators = |it: char| it == ',' || it.is_whitespace();
        for part in text.split(separators).filter(|it| !it.is_empty()) {
            let (unit, amount) =
                amount(part).filter(|(_, it)| (1..=MOST).contains(it)).ok_or_else(wrong)?;
            let place = match unit {
                BudgetUnit::Tokens => &mut budget.tokens,
                BudgetUnit::MicroUsd => &mut budget.micro_usd,
                BudgetUnit::WorkMs => &mut budget.work_ms,
            };
            if place.replace(amount).is_some() {
                return Err(wrong());
            }
        }
        if budget.is_unlimited() { Err(wrong()) } else { Ok(budget) }
    }
}

fn amount(part: &str) -> Option<(BudgetUnit, u64)> {
    let part = part.to_ascii_lowercase();
    let digits = part.find(|it: char| !it.is_ascii_digit() && it != '.' && it != '_')?;
    let (number, unit) = part.split_at(digits);
    if let Some(number) = part.strip_prefix('$') {
        return Some((BudgetUnit::MicroUsd, micros(number)?));
    }
    let number = number.replace('_', "");
    let whole = || number.parse::<u64>().ok();
    Some(match unit {
        "usd" | "$" => (BudgetUnit::MicroUsd, micros(&number)?),
        "tokens" | "token" => (BudgetUnit::Tokens, whole()?),
        "ktokens" => (BudgetUnit::Tokens, whole()?.checked_mul(1000)?),
        "s" => (BudgetUnit::WorkMs, whole()?.checked_mul(1000)?),
        "m" | "min" => (BudgetUnit::WorkMs, whole()?.checked_mul(60_000)?),
        "h" => (BudgetUnit::WorkMs, whole()?.checked_mul(3_600_000)?),
        _ => return None,
    })
}

/// Dollars with at most six decimal places, without a detour over floating point.
fn micros(dollars: &str) -> Option<u64> {
    let (whole, part) = dollars.split_once('.').unwrap_or((dollars, ""));
    if part.len() > 6 || (whole.is_empty() && part.is_empty()) {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    whole.checked_mul(1_000_000)?.checked_add(part)
}

impl BudgetUnit {
    /// An amount as people read it: `$5.00`, `200000 tokens`, `2 h 5 min`.
    pub fn show(self, amount: u64) -> String {
        match self {
            BudgetUnit::Tokens => crate::plural::counted(amount, "token"),
            BudgetUnit::MicroUsd => dollars(amount),
            BudgetUnit::WorkMs => span(amount),
        }
    }
}

/// `$5.00`; four places where it is less than a dollar.
pub fn dollars(micro_usd: u64) -> String {
    let (whole, part) = (micro_usd / 1_000_000, micro_usd % 1_000_000);
    if whole > 0 {
        return format!("${whole}.{:02}", part / 10_000);
    }
    format!("$0.{:04}", part / 100)
}

/// A time of work: `0.4 s`, `12 s`, `5 min 3 s`, `2 h 5 min`.
pub fn span(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0..10 => format!("{seconds}.{} s", ms % 1000 / 100),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts =
            BudgetUnit::ALL.into_iter().filter_map(|unit| Some(unit.show(self.limit(unit)?)));
        f.write_str(&parts.collect::<Vec<_>>().join(", "))
    }
}

/// For people: `5210 tokens in (4000 cached), 840 out, $0.0417, 12 s of work`.
impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if self.tokens() > 0 {
            let cached = match self.cached_tokens {
                0 => String::new(),
                n => format!(" ({n} cached)"),
            };
            let (input, output) = (self.input_tokens, self.output_tokens);
            parts.push(format!("{input} tokens in{cached}, {output} out"));
        }
        parts.extend(self.micro_usd.map(dollars));
        parts.push(format!("{} of work", span(self.work_ms)));
        f.write_str(&parts.join(", "))
    }
}

impl fmt::Display for BudgetOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BudgetOwner::Run => f.write_str("The run"),
            BudgetOwner::Step(step) => write!(f, "The step `{step}`"),
            BudgetOwner::Edge { from, to } => write!(f, "The work from `{from}` to `{to}`"),
            BudgetOwner::Agent(agent) => write!(f, "`{agent}`"),
        }
    }
}

impl fmt::Display for ReachedBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (used, most) = (self.unit.show(self.used), self.unit.show(self.most));
        write!(f, "{} has used {used}; its budget is {most}", self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read_as_people_write_them() {
        let read = |text| Budget::parse(text).map(|it| it.to_string());
        let good = [
            ("5usd", "$5.00"),
            ("$0.25", "$0.2500"),
            ("0.000001USD", "$0.0000"),
            ("200000tokens", "200000 tokens"),
            ("200_000tokens", "200000 tokens"),
            ("2h", "2 h 0 min"),
            ("90s", "1 min 30 s"),
            ("5usd,200000tokens, 2h", "200000 tokens, $5.00, 2 h 0 min"),
        ];
        for (text, shown) in good {
            assert_eq!(read(text).as_deref(), Ok(shown), "{text}");
        }
        let bad = [
            "",
            "5",
            "5eur",
            "-1usd",
            "0usd",
            "1.2345678usd",
            "1usd,2usd",
            "1.5tokens",
            ".usd",
            "ä",
        ];
        for text in bad {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_budget_is_used_up_when_nothing_is_left() {
        let budget = Budget::parse("1usd,100tokens").unwrap();
        let used = |input_tokens, micro_usd| Usage { input_tokens, micro_usd, ..Usage::default() };
        assert_eq!(budget.reached(&used(99, None)), None);
        assert_eq!(budget.reached(&used(100, None)), Some(BudgetUnit::Tokens));
        assert_eq!(budget.reached(&used(1, Some(1_000_000))), Some(BudgetUnit::MicroUsd));
        assert_eq!(budget.times(2).reached(&used(100, Some(1_500_000))), None);
        let left = budget.less(&used(30, Some(2_000_000)));
        assert_eq!((left.tokens, left.micro_usd, left.work_ms), (Some(70), Some(0), None));
    }

    #[test]
    fn what_was_used_adds_up() {
        let one = Usage { input_tokens: 5, micro_usd: Some(7), work_ms: 1, ..Usage::default() };
        let two = Usage { output_tokens: 3, work_ms: 1500, ..Usage::default() };
        let both = one.plus(two);
        assert_eq!((both.tokens(), both.micro_usd, both.work_ms), (8, Some(7), 1501));
        assert_eq!(both.to_string(), "5 tokens in, 3 out, $0.0000, 1.5 s of work");
        assert_eq!(Usage::default().plus(Usage::default()).micro_usd, None);
    }
}
