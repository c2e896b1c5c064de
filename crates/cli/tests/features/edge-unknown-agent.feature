Feature: Unknown agent
  Edge case of seed 003: an agent that no file describes is shown as "Unknown Agent" with a placeholder.

  Scenario: A handoff to an agent without a file
    Given a server with a run of a workflow whose second step belongs to "ghost", which no file describes
    And I follow the run live
    When "analyst" hands off to "ghost"
    Then I hear AGENT_HANDOFF with the message "Handing off to Unknown Agent (ghost)..."
    And the last handoff in the audit log goes to "Unknown Agent" with the id "ghost" and no image
    And "ghost" can be given a message, which shows the placeholder "UA" in a colour
