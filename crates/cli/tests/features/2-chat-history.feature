Feature: Chat history with attribution
  Acceptance criterion 2 of seed 003: each message shows the avatar and the name of its agent, and the
  contributions of different agents can be told apart.

  Background:
    Given a server with a run of the workflow "bmad-delivery"

  Scenario: Each message shows who wrote it
    When "product-manager" says "Two support requests name the same need"
    And "product-manager" hands off to "architect"
    And "architect" says "The message bus is there already"
    Then the chat history has these messages
      | agent           | name            | initials | text                                    |
      | product-manager | Product Manager | PM       | Two support requests name the same need |
      | architect       | Architect       | A        | The message bus is there already        |
    And no two of these agents share their initials and colour
    And the page of the run shows the name and the initials of each of them

  Scenario: What a person says is not taken for an agent's words
    When I say "The customer prefers passkeys"
    Then the last message has no agent and is by me

  Scenario: The history is read in both directions
    When "product-manager" says "first"
    And "product-manager" says "second"
    And "product-manager" says "third"
    Then going back from the end 2 at a time gives the same messages as going on from the beginning
