Feature: Handoff to the same agent
  Edge case of seed 003: rare, but allowed.

  Scenario: Two steps in a row belong to one agent
    Given a server with a run of a workflow whose two steps both belong to "analyst"
    And I follow the run live
    When "analyst" hands off to "analyst"
    Then I hear AGENT_HANDOFF with the message "Handing off to Analyst..."
    And the last handoff in the audit log is from "analyst" to "analyst" at the step "second"
