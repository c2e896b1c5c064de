Feature: Handoff indicator
  Acceptance criterion 1 of seed 003: when a workflow step changes agents, a handoff indicator is shown.

  Background:
    Given a server with a run of the workflow "bmad-delivery"

  Scenario: The indicator comes live
    Given I follow the run live
    When "product-manager" hands off to "architect"
    Then I hear AGENT_HANDOFF with the message "Handing off to Architect..."
    And that event says from "Product Manager" to "Architect" at the step "Architecture"
    And that event is smaller than 1024 bytes

  Scenario: The indicator stays in the conversation and on the page
    When "product-manager" hands off to "architect"
    Then the conversation shows "Handing off to Architect..."
    And the page of the run shows "Handing off to Architect..."

  Scenario: The handoff is recorded before the new agent begins
    When "product-manager" hands off to "architect"
    Then "architect" can accept only what the audit log already has

  Scenario: No indicator without a handoff
    Given I follow the run live
    When "product-manager" says "I read the support requests"
    Then I hear MESSAGE_POSTED and no AGENT_HANDOFF before it
