//! What every [`Store`](baton_store::Store) must do. A backend runs it all from its own tests:
//!
//! ```text
//! baton_store_tests::conformance!(fresh_store);
//! baton_store_tests::reopening!(fresh_place);
//! ```
//!
//! `fresh_store` gives an `Arc<dyn Store>` and whatever must outlive it, such as a directory;
//! `fresh_place` gives a [`Place`] that a durable store can be opened at again. The crate that
//! calls these has `tokio` with `macros` and `rt-multi-thread`.
#![expect(clippy::unwrap_used, reason = "these are tests, whichever crate runs them")]

pub mod answers;
pub mod appends;
pub mod checkpoints;
pub mod closing;
pub mod contents;
pub mod due;
pub mod events;
pub mod failures;
pub mod filters;
pub mod handoffs;
pub mod outbox;
pub mod races;
pub mod reopening;
pub mod sample;
pub mod stories;
pub mod timers;

mod dump;
mod memory;

pub use dump::dump;
pub use memory::{MemoryStore, SharedMemory, count_run, is_after, is_until};
pub use reopening::Place;

/// Makes one test of each case, each on a store of its own from `$fresh`.
#[macro_export]
macro_rules! conformance {
    ($fresh:path) => {
        $crate::conformance! { @cases $fresh,
            appends {
                what_is_appended_can_be_loaded
                a_run_is_found_by_every_reference
                the_version_counts_events
                a_stale_version_changes_nothing
                a_run_cannot_be_made_twice
                a_run_that_is_not_there_cannot_be_added_to
                two_runs_of_one_story_cannot_be_open_at_once
                a_finished_story_may_get_a_new_run
                numbers_and_positions_only_grow
                the_numbers_of_runs_page_without_gap
                a_definition_is_kept_once
                what_is_not_there_is_none
                a_healthy_store_has_nothing_to_say
            }
            checkpoints {
                checkpoints_are_kept_in_their_order
                the_links_of_the_log_are_its_events
            }
            answers {
                an_answer_is_kept_with_its_command
                a_repeated_key_gets_the_first_answer
                a_repeated_key_goes_before_every_other_refusal
                the_same_key_in_another_scope_is_another_key
                a_refused_command_leaves_no_answer
                only_old_answers_are_forgotten
            }
            contents {
                a_text_belongs_to_its_run
                the_same_text_may_be_sent_again
                the_texts_of_a_run_are_counted
                a_package_of_a_mebibyte_comes_back
                odd_text_comes_back_byte_for_byte
                nul_is_refused_in_every_text
                nul_is_refused_in_a_story
                times_keep_their_nanoseconds
            }
            due {
                a_run_is_due_no_later_than_its_appends_say
                a_refused_append_makes_nothing_due
                what_is_due_is_listed_by_time_and_number
                the_schedule_of_a_run_is_what_the_lists_have_of_it
                who_looked_says_when_to_look_again
            }
            events {
                events_come_back_as_they_were_appended
                a_command_may_have_any_number_of_events
                events_page_without_gap_or_duplicate
                the_events_of_one_run_page_without_the_others
                the_events_of_one_run_page_backwards
                what_is_shared_is_found_among_other_events
            }
            failures {
                a_failed_append_leaves_nothing
                a_finished_handoff_never_changes
                a_handoff_cannot_be_opened_twice
                an_append_without_events_is_refused
            }
            filters {
                runs_are_filtered
                waiting_runs_are_listed
                blocked_runs_are_listed
                runs_that_moved_last_come_first
                open_runs_are_found_by_the_end_of_their_key
                a_list_ends_where_it_is_asked_to
                handoffs_are_filtered
                handoffs_are_filtered_by_who_has_to_do_with_them
                handoffs_are_filtered_by_when_they_were_made
                handoffs_come_newest_first_or_from_the_middle
                handoffs_are_counted_by_state_and_by_agent
                handoffs_are_filtered_by_their_last_move
                runs_page_without_gap_or_duplicate
                handoffs_page_without_gap_or_duplicate
            }
            handoffs {
                a_new_handoff_is_pending
                a_handoff_is_found_by_every_reference
                a_changed_row_is_stored_whole
                a_question_keeps_its_answer
                a_mark_does_not_count_as_a_move
                a_handoff_may_move_twice_in_one_append
                every_state_can_be_stored
            }
            outbox {
                the_outbox_keeps_its_order
                an_outbox_row_is_settled_once
                outbox_ids_are_never_reused
                a_cursor_starts_at_the_beginning
                a_cursor_moves_only_from_where_it_is
            }
            stories {
                a_story_is_added_once
                a_story_that_is_sent_twice_is_added_once
                a_story_that_is_saved_twice_with_a_key_is_saved_once
                a_saved_story_keeps_its_age
                an_append_makes_a_missing_story_only
                stories_that_look_alike_are_found_however_they_were_added
                stories_are_listed_by_key
                a_story_shows_its_newest_run
                stories_to_begin_come_by_priority_and_are_counted
            }
            timers {
                a_timer_is_set_with_its_append
                a_timer_that_is_set_again_is_the_only_one
                a_timer_is_cleared_with_its_append
                a_refused_append_sets_no_timer
                timers_are_listed_by_their_time
                only_the_lease_that_is_meant_is_put_off
                putting_off_is_no_event_and_changes_no_run
                a_lease_that_nodes_share_is_never_made_shorter
            }
            closing {
                a_closed_store_refuses_all_work
                closing_twice_is_fine
            }
        }
        $crate::conformance! { @races $fresh,
            of_fifty_appends_at_one_version_exactly_one_wins
            of_many_runs_started_for_one_story_exactly_one_is_open
            equal_keys_sent_at_once_take_effect_once
            a_failing_append_spoils_none_of_its_neighbours
            a_reader_of_the_log_misses_nothing
            numbers_are_given_once
            an_outbox_row_is_settled_by_one_alone
            a_cursor_is_moved_by_one_alone
            a_lease_that_has_ended_is_never_put_off
        }
    };
    (@cases $fresh:path, $($topic:ident { $($case:ident)+ })+) => { $($(
        #[tokio::test]
        async fn $case() {
            let (store, _place) = $fresh().await;
            $crate::$topic::$case(&*store).await;
        }
    )+)+ };
    (@races $fresh:path, $($case:ident)+) => { $(
        #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        async fn $case() {
            let (store, _place) = $fresh().await;
            $crate::races::$case(store).await;
        }
    )+ };
}

/// Makes one test of each case for a store that must remember, each at a place of its own.
#[macro_export]
macro_rules! reopening {
    ($fresh:path) => {
        $crate::reopening! { @cases $fresh,
            everything_is_still_there_after_reopening
            everything_is_still_there_without_a_proper_close
            numbers_continue_after_reopening
            outbox_ids_continue_after_reopening
            a_repeated_key_is_known_after_reopening
            a_run_goes_on_after_reopening
            a_lease_can_be_put_off_after_reopening
        }
    };
    (@cases $fresh:path, $($case:ident)+) => { $(
        #[tokio::test]
        async fn $case() {
            $crate::reopening::$case(&$fresh().await).await;
        }
    )+ };
}
