//! Enumerations of the domain in the API: [`Word`] reads, writes and describes a value by its name, so
//! that they need no second type here.

use std::borrow::Cow;
use std::ops::Deref;

use baton_core::agent::AgentInterface;
use baton_core::command::Way;
use baton_core::contract::Profile;
use baton_core::detour::RerouteCause;
use baton_core::evidence::Verdict;
use baton_core::gate::{AnswerKind, GateKind};
use baton_core::order::Order;
use baton_core::outcome::Outcome;
use baton_core::run::{BatonPlace, HandoffState, Kind, RunStatus, Wait};
use baton_core::sent_file::SentFileKind;
use baton_core::workflow::Mode;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// A value that is its name in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Word<T>(pub T);

/// A closed set of values, each with a name.
pub trait WordSet: Copy + 'static {
    /// The name of its schema.
    const SCHEMA: &'static str;
    /// The description of its schema.
    const ABOUT: &'static str;
    const ALL: &'static [Self];

    fn word(self) -> &'static str;

    fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.word() == word)
    }
}

macro_rules! words {
    ($($alias:ident = $set:ident: $schema:literal, $about:literal;)*) => {$(
        pub type $alias = Word<$set>;

        impl WordSet for $set {
            const SCHEMA: &'static str = $schema;
            const ABOUT: &'static str = $about;
            const ALL: &'static [Self] = &$set::ALL;

            fn word(self) -> &'static str {
                self.name()
            }
        }
    )*};
}

words! {
    StatusWord = RunStatus: "RunStatus", "Whether a run is still open.";
    StateWord = HandoffState: "HandoffState", "The state of a handoff.";
    KindWord = Kind: "HandoffKind", "What a handoff is for.";
    OutcomeWord = Outcome: "Outcome",
        "How a step ended. Only Baton sets `unknown`: the attempt was lost.";
    BatonWord = BatonPlace: "Baton", "Where a run's baton is, and so who has to act.";
    WaitWord = Wait: "Wait", "What a parked baton waits for.";
    GateKindWord = GateKind: "GateKind", "How much of the run a gate stops.";
    WayWord = Way: "Way", "What kind of handoff the sender wants to make.";
    ProfileWord = Profile: "Profile", "How strictly a package is checked against its contract.";
    VerdictWord = Verdict: "Verdict", "The result of a check.";
    FileKindWord = SentFileKind: "SentFileKind",
        "What a file is: what was printed or changed, or what the package names.";
    AnswerWord = AnswerKind: "PersonsAnswer",
        "The answers that a person may give. An item's choices list those that it takes.";
    FaceWord = AgentInterface: "Face", "The interface through which the agent uses Baton.";
    ModeWord = Mode: "Mode", "How much of a run goes on without a person.";
    RerouteCauseWord = RerouteCause: "RerouteCause",
        "Why what blocks a step goes elsewhere than the workflow's table says.";
    OrderWord = Order: "Order", "Which end of a list comes first.";
}

impl<T> Deref for Word<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> From<T> for Word<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl<T: WordSet> Serialize for Word<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.word())
    }
}

impl<'de, T: WordSet> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = Cow::<'de, str>::deserialize(deserializer)?;
        let unknown = || {
            let known: Vec<&str> = T::ALL.iter().map(|it| it.word()).collect();
            D::Error::custom(format_args!("`{word}` is none of {}", known.join(", ")))
        };
        T::from_word(&word).map(Self).ok_or_else(unknown)
    }
}

impl<T: WordSet> PartialSchema for Word<T> {
    fn schema() -> RefOr<Schema> {
        let words = T::ALL.iter().map(|it| it.word());
        let schema = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words));
        schema.description(Some(T::ABOUT)).into()
    }
}

impl<T: WordSet> ToSchema for Word<T> {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed(T::SCHEMA)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::*;

    #[track_caller]
    fn check_words<T: WordSet + Debug + PartialEq>(expected: &str) {
        let words: Vec<String> =
            T::ALL.iter().map(|it| serde_json::to_string(&Word(*it)).unwrap()).collect();
        assert_eq!(words.join(" ").replace('"', ""), expected);
        for (value, word) in T::ALL.iter().zip(&words) {
            assert_eq!(serde_json::from_str::<Word<T>>(word).unwrap(), Word(*value));
        }
    }

    #[test]
    fn the_words_of_the_api_never_change() {
        check_words::<RunStatus>("open paused completed cancelled");
        check_words::<HandoffState>(
            "pending clarification accepted parked completed rejected timed_out cancelled superseded",
        );
        check_words::<Kind>("sequential delegation escalation return question");
        check_words::<Outcome>(
            "success failure blocked needs_review needs_clarification skipped unknown",
        );
        check_words::<Wait>("timer person checks");
        check_words::<GateKind>("blocking advisory automatic");
        check_words::<Way>("sequential delegation escalation return");
        check_words::<Profile>("strict lenient");
        check_words::<Verdict>("passed failed");
        check_words::<BatonPlace>("offered held parked loose done");
        check_words::<AnswerKind>(
            "approve reject answer question modify continue accept hand_to abort",
        );
        check_words::<AgentInterface>("curl cli block");
        check_words::<Order>("oldest newest");
        check_words::<Mode>("autonomous semi-autonomous supervised");
        check_words::<RerouteCause>("consolidate major_decision outside_phase retries_exhausted");
    }

    #[test]
    fn an_unknown_word_is_refused_with_the_known_ones() {
        let error = serde_json::from_str::<ProfileWord>("\"severe\"").unwrap_err().to_string();
        assert!(error.starts_with("`severe` is none of strict, lenient"), "{error}");
    }
}
