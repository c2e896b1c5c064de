// The stories of `bench postgres` through graphile-worker: a job for each handoff, which adds the next one.
// Usage: node queue.mjs URL STORIES SECONDS PACKAGE; prints the jobs that were done per second.
import { run, runMigrations } from "graphile-worker";

const [url, stories, seconds, text] = process.argv.slice(2);
const agents = ["analyst", "implementer", "reviewer", "refactorer", "documenter"];
const payload = JSON.parse(text);
let done = 0;
let started = 0;

const addStory = (addJob) => addJob("handoff", { story: `story-${started++}`, n: 0, payload });

const taskList = {
  handoff: async ({ story, n }, { addJob }) => {
    done += 1;
    if (n + 1 < agents.length) {
      await addJob("handoff", { story, n: n + 1, agent: agents[n + 1], payload });
    } else {
      await addStory(addJob);
    }
  },
};

const options = {
  connectionString: url,
  concurrency: Number(stories),
  maxPoolSize: Number(stories) + 2,
  noHandleSignals: true,
  pollInterval: 100,
  logger: undefined,
};
await runMigrations(options);
const runner = await run({ ...options, taskList });
for (let n = 0; n < Number(stories); n += 1) {
  await addStory(runner.addJob);
}
const [before, began] = [done, performance.now()];
await new Promise((resolve) => setTimeout(resolve, Number(seconds) * 1000));
console.log((done - before) / ((performance.now() - began) / 1000));
process.exit(0);
