import { expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { errorOf, startGateway } from "../../started-gateway.ts";
import { videoGateway } from "../video-tasks/video-gateway.ts";

test("rejects new assets but still returns the group after its account was disabled", async () => {
  const gateway = await startGateway(videoGateway);
  try {
    const created = await gateway.post("/v1/asset-groups", { platform: "volcengine", name: "heroes" });
    const { id } = (await created.json()) as { id: string };
    const providers =
      videoGateway.providers?.(gateway.simulator).map((provider) => ({ ...provider, enabled: false })) ?? [];
    const workspaces = [{ slug: "acme", groups: [{ name: "default" }], keys: videoGateway.keys ?? [] }];
    await gateway.control.controlStore.apply({ providers, models: videoGateway.models ?? [], workspaces }, "test");
    const material = { platform: "volcengine", group_id: id, url: "https://pictures.example/a.png" };
    const body = { ...material, asset_type: "Image", name: "anna" };
    const answer = await until(async () => {
      const answer = await gateway.post("/v1/assets", body);
      return answer.status === 200 ? null : answer;
    });
    expect(await errorOf(answer)).toMatchObject({ status: 503, code: "no_deployment_available" });
    expect((await gateway.get(`/v1/asset-groups/${id}?platform=volcengine`)).status).toBe(200);
  } finally {
    await gateway.stop();
  }
});
