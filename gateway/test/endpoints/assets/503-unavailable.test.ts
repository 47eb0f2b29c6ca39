import { expect, test } from "bun:test";
import { errorOf, startHouse } from "../../started-house.ts";
import { videoHouse } from "../video-tasks/video-house.ts";

test("a group whose account was switched off takes no more material, and what is in it is still shown", async () => {
  const house = await startHouse(videoHouse);
  try {
    const made = await house.post("/v1/asset-groups", { platform: "volcengine", name: "heroes" });
    const { id } = (await made.json()) as { id: string };
    const providers =
      videoHouse.providers?.(house.simulator).map((provider) => ({ ...provider, enabled: false })) ?? [];
    const workspaces = [{ slug: "acme", groups: [{ name: "default" }], keys: videoHouse.keys ?? [] }];
    await house.control.controlStore.apply({ providers, models: videoHouse.models ?? [], workspaces }, "test");
    const material = { platform: "volcengine", group_id: id, url: "https://pictures.example/a.png" };
    const body = { ...material, asset_type: "Image", name: "anna" };
    const deadline = AbortSignal.timeout(5_000);
    let answer = await house.post("/v1/assets", body);
    while (answer.status === 200) {
      deadline.throwIfAborted();
      answer = await house.post("/v1/assets", body);
    }
    expect(await errorOf(answer)).toMatchObject({ status: 503, code: "no_deployment_available" });
    expect((await house.get(`/v1/asset-groups/${id}?platform=volcengine`)).status).toBe(200);
  } finally {
    await house.stop();
  }
});
