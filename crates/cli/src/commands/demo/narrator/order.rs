//! What an agent prints reaches the log a moment after it was printed, and so after the handoff that
//! it ended with. For a reader its words come first.

use baton_core::event::{BlockerEvent, Event, HandoffEvent, MessageEvent, QuestionEvent};
use baton_core::names::AgentId;

/// Moves the messages of an agent in front of what ended its turn.
pub(in crate::commands) fn in_reading_order<T>(
    events: Vec<T>,
    event_of: impl Fn(&T) -> &Event,
) -> Vec<T> {
    let mut ordered: Vec<T> = Vec::with_capacity(events.len());
    for it in events {
        let said_by = match event_of(&it) {
            Event::Message(MessageEvent::Posted { by, .. }) => by.as_ref(),
            Event::Run(_)
            | Event::Step(_)
            | Event::Handoff(_)
            | Event::Question(_)
            | Event::Frame(_)
            | Event::Lease(_)
            | Event::Gate(_)
            | Event::Evidence(_)
            | Event::Checks(_)
            | Event::Branch(_)
            | Event::Message(_)
            | Event::Decision(_)
            | Event::Context(_)
            | Event::Content(_)
            | Event::Usage(_)
            | Event::File(_)
            | Event::Blocker(_) => None,
        };
        let place = said_by.and_then(|by| end_of_turn(&ordered, by, &event_of));
        match place {
            Some(place) => ordered.insert(place, it),
            None => ordered.push(it),
        }
    }
    ordered
}

/// Where the last turn of an agent ended, unless it has begun another since.
fn end_of_turn<T>(events: &[T], agent: &AgentId, event_of: impl Fn(&T) -> &Event) -> Option<usize> {
    for (index, it) in events.iter().enumerate().rev() {
        let event = event_of(it);
        if let Event::Handoff(HandoffEvent::Accepted { by, .. }) = event
            && by == agent
        {
            return None;
        }
        if ended_by(event) == Some(agent) {
            return Some(index);
        }
    }
    None
}

/// The agent whose turn an event ends.
fn ended_by(event: &Event) -> Option<&AgentId> {
    if let Event::Handoff(HandoffEvent::Created(created)) = event {
        return Some(&created.from.agent);
    }
    if let Event::Handoff(HandoffEvent::Rejected { by, .. } | HandoffEvent::Released { by, .. })
    | Event::Question(QuestionEvent::Asked { by, .. })
    | Event::Blocker(BlockerEvent::Raised { by, .. }) = event
    {
        return Some(by);
    }
    None
}

#[cfg(test)]
mod tests {
    use baton_core::content::ContentId;
    use baton_core::run::HandoffNo;

    use super::*;

    fn agent(name: &str) -> AgentId {
        AgentId::parse(name).unwrap()
    }

    fn says(name: &str) -> (String, Event) {
        let text = serde_json::from_str::<ContentId>(&format!("\"{}\"", "0".repeat(64))).unwrap();
        let event = Event::Message(MessageEvent::Posted {
            by: Some(agent(name)),
            text,
            portrait: None,
            is_new_cast: false,
        });
        (format!("{name} says"), event)
    }

    fn asks(name: &str) -> (String, Event) {
        let (handoff, question) = (HandoffNo(1), HandoffNo(2));
        let event = Event::Question(QuestionEvent::Asked { handoff, question, by: agent(name) });
        (format!("{name} asks"), event)
    }

    fn accepts(name: &str) -> (String, Event) {
        let event = Event::Handoff(HandoffEvent::Accepted {
            handoff: HandoffNo(1),
            by: agent(name),
            is_implicit: false,
            acknowledgement: None,
            holder: None,
        });
        (format!("{name} accepts"), event)
    }

    #[track_caller]
    fn check_order(events: Vec<(String, Event)>, expected: &[&str]) {
        let ordered = in_reading_order(events, |(_, event)| event);
        let names: Vec<&str> = ordered.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn words_come_before_what_they_led_to_and_keep_their_order() {
        let events = vec![accepts("a"), asks("a"), accepts("b"), says("a"), says("b"), says("a")];
        let expected = ["a accepts", "a says", "a says", "a asks", "b accepts", "b says"];
        check_order(events, &expected);
    }

    #[test]
    fn words_of_a_new_turn_stay_in_it() {
        let events = vec![asks("a"), accepts("a"), says("a")];
        check_order(events, &["a asks", "a accepts", "a says"]);
        check_order(vec![says("a")], &["a says"]);
    }
}
