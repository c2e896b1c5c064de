Feature: Agent tooltip
  Acceptance criterion 4 of seed 003: name, description, capabilities and current step responsibility of an
  agent are shown where one points at it.

  Background:
    Given a server with a run of the workflow "bmad-delivery"

  Scenario: What the tooltip needs comes in one response
    When "product-manager" hands off to "architect"
    Then the agent "architect" has the name "Architect"
    And it has the description and the capabilities of its file
    And its current step responsibility is "Architecture"
    And the current agent of the workflow status is the same

  Scenario: The page has the tooltip
    When "product-manager" hands off to "architect"
    Then pointing at the holder on the page of the run shows its name, description, capabilities and step

  Scenario: An agent without work is responsible for nothing
    When "product-manager" hands off to "architect"
    Then the agent "reviewer" has no current step responsibility
