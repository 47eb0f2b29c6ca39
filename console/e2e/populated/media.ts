import type { RunningSimulator, Script } from "@sluice/simulator";
import { until } from "../../../test/until.ts";
import type { SignedInUser } from "../signed-in-user.ts";
import type { Calls } from "./traffic.ts";

const key = "film studio";
const longMs = 600_000;

const videos: readonly { readonly prompt: string; readonly script: Script; readonly ends: string }[] = [
  { prompt: "A paper boat sails through a rainy street", script: {}, ends: "succeeded" },
  { prompt: "A robot waters a rooftop garden at dawn", script: {}, ends: "succeeded" },
  {
    prompt: "A crowd in a market square, hand-held camera",
    script: {
      ends: "failed",
      error_code: "OutputVideoSensitiveContentDetected",
      error_message: "The video was withheld.",
    },
    ends: "failed",
  },
  { prompt: "Snow falls on an old harbor", script: { ends: "expired" }, ends: "expired" },
  { prompt: "A lighthouse in a storm", script: { queued_ms: longMs }, ends: "queued" },
  {
    prompt: "A tram climbs a hill in the evening light",
    script: { queued_ms: 0, running_ms: longMs },
    ends: "running",
  },
  { prompt: "A kite over the dunes", script: { queued_ms: longMs }, ends: "cancelled" },
];

/** Creates video tasks in each state, asset groups on two platforms, and assets in each state. Resolves to the id of a finished task. */
export async function createVideoTasks(
  { call }: SignedInUser,
  { post }: Calls,
  { simulator }: RunningSimulator,
): Promise<string> {
  const tasks: string[] = [];
  for (const { prompt, script } of videos) {
    simulator.addPreset({ model: "doubao-seedance-2-0-260128", script, count: 1 });
    const body = { model: "seedance", prompt, ratio: "16:9", duration: 5, resolution: "720p", audio: false };
    tasks.push(await idOf(await post(key, "/v1/video/tasks", body)));
    // One at a time, so that each script applies to its own task.
    await until(async () => simulator.tasks.list().total >= tasks.length);
  }
  const workspace = "acme";
  await call("tasks.cancel", { params: { workspace, task: tasks.at(-1) ?? "" } });
  for (const platform of ["volcengine", "local"]) {
    const group = await idOf(
      await post(key, "/v1/asset-groups", {
        platform,
        name: platform === "local" ? "logos" : "heroes",
        description: "Who is in the film",
      }),
    );
    const asset = { platform, group_id: group, url: "https://pictures.invalid/hero.png", asset_type: "Image" };
    await idOf(
      await post(key, "/v1/assets", { ...asset, name: platform === "local" ? "logo on white" : "hero from the left" }),
    );
    if (platform !== "volcengine") continue;
    simulator.addPreset({ model: "CreateAsset", script: { running_ms: longMs }, count: 1 });
    await idOf(await post(key, "/v1/assets", { ...asset, name: "hero from behind" }));
    simulator.addPreset({
      model: "CreateAsset",
      script: { ends: "failed", error_message: "No face was found." },
      count: 1,
    });
    await idOf(await post(key, "/v1/assets", { ...asset, name: "hero from above" }));
  }
  simulator.clearPresets();
  await until(async () => {
    const { data } = await call("tasks.list", { params: { workspace } });
    return tasks.every((id, index) => data.find((task) => task.id === id)?.status === videos[index]?.ends);
  });
  return tasks[0] ?? "";
}

async function idOf(answer: Response): Promise<string> {
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.url} answered ${answer.status}: ${text}`);
  return (JSON.parse(text) as { id: string }).id;
}
