import { expect, test } from "bun:test";
import { errorOf, startGateway, upstream } from "../../started-gateway.ts";
import { ask, path, videoGateway } from "./videos-gateway.ts";

test("a model whose account is switched off makes nothing, and what was set aside is given back", async () => {
  const gateway = await startGateway({
    ...videoGateway,
    providers: (simulator) => [upstream("volc", simulator, { kind: "ark", enabled: false })],
  });
  try {
    expect(await errorOf(await gateway.post(path, ask))).toMatchObject({
      status: 503,
      code: "no_deployment_available",
    });
    expect(gateway.simulator.simulator.truth.list().total).toBe(0);
    expect(gateway.gateway.outstanding()).toBe(0);
  } finally {
    await gateway.stop();
  }
});
