Feature: Audit log query
  Acceptance criterion 5 of seed 003: every handoff is in the audit log with fromAgent, toAgent, timestamp,
  workflowStep and reason.

  Background:
    Given a server with a run of the workflow "bmad-delivery"
    And "product-manager" hands off to "architect"
    And "architect" hands off to "developer"

  Scenario: All handoffs with who, when, where and why
    When I query the handoffs of the workflow
    Then I see these handoffs, oldest first
      | from            | to              | step         | reason                                   |
      | orchestrator    | product-manager | requirements | Step requires Product Manager expertise  |
      | product-manager | architect       | architecture | Step requires Architect expertise        |
      | architect       | developer       | development  | Step requires Developer expertise        |
    And each has exactly the members "fromAgent, toAgent, timestamp, stepName, workflowStep, reason"
    And each agent has exactly the members "agentId, agentName, agentDescription, agentAvatarUrl, capabilities, currentStepResponsibility"

  Scenario: Pages
    When I query the handoffs of the workflow with "page=2&pageSize=2"
    Then I see 1 handoff of 3 on page 2 of 2

  Scenario: By agent and by date
    Then querying with "agent=orchestrator" gives 1 handoff
    And querying with "toDate=2000-01-01" gives 0 handoffs
    And querying with "fromDate=2000-01-01" gives 3 handoffs
    And querying with "pageSize=1000" is cut to pages of 100

  Scenario: A workflow that is not there
    Then querying the workflow "no-such-story" is answered with 404

  Scenario: Export
    Then "baton audit export --format csv" has a row for each of the 3 handoffs
    And "baton audit export --format json" has a row for each of the 3 handoffs
