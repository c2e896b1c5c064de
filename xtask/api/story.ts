// Takes a story from its start to its end with openapi-fetch, over the types that openapi-typescript
// generates. Usage: node out/story.js URL

import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

declare const process: { argv: string[] };

type Schemas = components["schemas"];
type Handoff = Schemas["Handoff"];
type Committed = Schemas["Committed"];
type Answer = { data?: Schemas["CommandAnswer"]; error?: Schemas["Problem"] };

const baseUrl = process.argv[2] ?? "";
const client = createClient<paths>({ baseUrl });
const story = "typescript-story";

const plan = { plan: ["one"], files_to_modify: [], approach: "plain", risks: [], questions_resolved: true };
const built = { build_passes: true, files_changed: [], summary: "The parser reads 3 more formats of dates", tests_added: true, discoveries: {} };
const approved = { ...built, approved: true, review_notes: "Good" };
const polished = { files_changed: [], refactored: false, refactor_summary: "The 3 formats share one table already", discoveries: {} };
const written = { learnings_added: 0, gotchas_added: 0, docs_updated: true, notes: "The table of formats is in docs/dates.md" };

function fail(what: string, seen: unknown): never {
  throw new Error(`${what}: ${JSON.stringify(seen)}`);
}

/** `result` alone tells the compiler which of the two it is. */
function done({ data, error }: Answer): Committed {
  if (data === undefined) fail("refused", error);
  switch (data.result) {
    case "committed":
      return data;
    case "dry_run":
      return fail("only rehearsed", data.handoffs);
  }
}

function there<T>(value: T | null | undefined): T {
  return value ?? fail("nothing there", value);
}

/** A handoff comes as JSON unless `Accept` asks for text. */
async function show(handoff: string): Promise<Schemas["HandoffDetail"]> {
  const { data } = await client.GET("/api/v1/handoffs/{handoff}", { params: { path: { handoff }, query: { run } } });
  return typeof data === "object" ? data : fail("no handoff", data);
}

async function accept(handoff: string): Promise<number> {
  const accepted = done(
    await client.POST("/api/v1/handoffs/{handoff}/accept", {
      params: { path: { handoff } },
      body: { acknowledgement: "Understood.", leaseSeconds: 600 },
    }),
  );
  return there(accepted.fence);
}

async function complete(handoff: string, fence: number, body: unknown): Promise<Committed> {
  return done(
    await client.POST("/api/v1/handoffs/{handoff}/complete", {
      params: { path: { handoff } },
      body: { outcome: "success", package: body, fence },
    }),
  );
}

/** Accepts a handoff, and completes it; gives the next one. */
async function work({ id }: Pick<Handoff, "id">, body: unknown): Promise<Handoff> {
  return there((await complete(id, await accept(id), body)).handoff);
}

await client.POST("/api/v1/stories", { body: { key: story, acceptance: ["It works"] } });
const rehearsed = await client.POST("/api/v1/runs", { params: { query: { dryRun: true } }, body: { story } });
if (rehearsed.data?.result !== "dry_run") fail("no rehearsal", rehearsed.data);
const begun = done(await client.POST("/api/v1/runs", { body: { story, workflow: "story-pipeline" } }));
const run = begun.run.id;

// The implementer asks before it begins.
const implement = await work(there(begun.handoff), plan);
const asked = done(
  await client.POST("/api/v1/handoffs/{handoff}/clarify", {
    params: { path: { handoff: implement.id } },
    body: { question: "Which browsers?" },
  }),
);
done(
  await client.POST("/api/v1/handoffs/{handoff}/answer", {
    params: { path: { handoff: there(asked.question).id } },
    body: { answer: "All of them." },
  }),
);
const answered = (await show(implement.id)).questions[0];
if (answered?.answer !== "All of them.") fail("no answer", answered);
let review = await work(implement, built);

// The reviewer sends it back once.
await accept(review.id);
const rejected = done(
  await client.POST("/api/v1/handoffs/{handoff}/reject", {
    params: { path: { handoff: review.id } },
    body: { reason: "The second criterion fails." },
  }),
);
review = await work(there(rejected.returnHandoff), built);
const polish = await work(review, approved);

// The refactorer asks a person.
const fence = await accept(polish.id);
await client.POST("/api/v1/handoffs/{handoff}/escalate", {
  params: { path: { handoff: polish.id } },
  body: { reason: "Is that worth it?", fence },
});
const inbox = there((await client.GET("/api/v1/inbox")).data);
const item = there(inbox.items.find((it) => it.run.id === run));
const answer = there(item.choices[0]).choice as Schemas["PersonsAnswer"];
done(
  await client.POST("/api/v1/inbox/{handoff}/answer", {
    params: { path: { handoff: there(item.handoffId) } },
    body: { answer, comment: "Keep it as it is." },
  }),
);

async function current() {
  const { data } = await client.GET("/api/v1/runs/{run}", { params: { path: { run } } });
  return { baton: there(data).baton, handoff: await show(there(there(data).currentHandoff)) };
}

let held = await current();
while (held.baton === "offered") {
  await accept(held.handoff.id);
  held = await current();
}
const documented = there((await complete(held.handoff.id, there(held.handoff.fence), polished)).handoff);

const refused = await client.POST("/api/v1/handoffs/{handoff}/complete", {
  params: { path: { handoff: documented.id } },
  body: { outcome: "unknown" },
});
if (refused.error?.code !== "unknown_outcome") fail("not refused", refused.data);
const finished = await complete(documented.id, await accept(documented.id), written);
if (finished.run.status !== "completed") fail("not completed", finished.run);
console.log(`TypeScript: ${story} is completed after ${finished.run.nHandoffs} handoffs`);
