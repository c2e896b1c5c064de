Feature: Decision attribution
  Acceptance criterion 3 of seed 003: a decision shows who made it and when, and its reasoning is visible.

  Background:
    Given a server with a run of the workflow "bmad-delivery"
    And "product-manager" hands off to "architect"

  Scenario: A decision in a package
    When "architect" hands off to "developer" and decides "Use the message bus" because "It is there already"
    Then the decision "Use the message bus" says "Decided by Architect at" and the time of that handoff
    And its reasoning is "It is there already"
    And the page of the run shows "Use the message bus" and "It is there already"

  Scenario: A decision that is recorded on its own
    When "architect" decides "Use SQLite" because "One file, no server"
    Then the decision "Use SQLite" says "Decided by Architect at" and the time when it was recorded
    And its reasoning is "One file, no server"
    And "baton decision list" shows "Use SQLite"

  Scenario: A person decides
    When I decide "Ship on Monday" because "Support is there"
    Then the decision "Ship on Monday" is attributed to me
