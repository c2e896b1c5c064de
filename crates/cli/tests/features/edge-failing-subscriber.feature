Feature: A failing subscriber never stops a run
  Edge case of seed 003, where recording is called non-critical: here the handoff is recorded, and what fails is
  a listener.

  Scenario Outline: The run goes on
    Given a server with a run of the workflow "bmad-delivery"
    And a subscriber that <fails>
    When the run is handed through all its steps
    Then the run is completed
    And the audit log has 5 handoffs
    And a healthy subscriber that connects now hears all of it

    Examples:
      | fails                             |
      | never reads what it is sent       |
      | closes its connection at once     |
      | sends nonsense as its last event  |
