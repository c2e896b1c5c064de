Feature: Connection lost during a handoff
  Edge case of seed 003: the handoff is recorded, and the client gets it when it connects again.

  Background:
    Given a server with a run of the workflow "bmad-delivery"
    And I follow the run live

  Scenario: Caught up on reconnect
    When my connection is lost
    And "product-manager" hands off to "architect"
    And "architect" hands off to "developer"
    And I connect again
    Then I hear exactly the handoff messages
      | Handing off to Architect... |
      | Handing off to Developer... |
    And the audit log has 3 handoffs

  Scenario: The server is killed and started again
    When "product-manager" hands off to "architect"
    And I hear AGENT_HANDOFF with the message "Handing off to Architect..."
    And the server is killed and started again
    And "architect" hands off to "developer"
    And I connect again
    Then I hear exactly the handoff messages
      | Handing off to Developer... |
    And the audit log has 3 handoffs
