Feature: Many rapid handoffs
  Edge case of seed 003: each handoff is recorded separately, however fast they come.

  Scenario: Twenty handoffs of one run without a pause
    Given a server with a run of a workflow of 20 steps
    And I follow the run live
    When the work is handed from step to step without a pause
    Then the audit log has one entry for each step, in their order
    And I hear AGENT_HANDOFF once for each step, in their order

  Scenario: Handoffs of many runs at once
    Given a server with 8 runs of the workflow "bmad-delivery"
    When the first handoff of each of them is made at the same time
    Then each run has exactly 2 handoffs in its audit log
