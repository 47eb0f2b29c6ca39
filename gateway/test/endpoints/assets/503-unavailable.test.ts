import { expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
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
    const answer = await until(async () => {
      const answer = await house.post("/v1/assets", body);
      return answer.status === 200 ? null : answer;
    });
    expect(await errorOf(answer)).toMatchObject({ status: 503, code: "no_deployment_available" });
    expect((await house.get(`/v1/asset-groups/${id}?platform=volcengine`)).status).toBe(200);
  } finally {
    await house.stop();
  }
});
