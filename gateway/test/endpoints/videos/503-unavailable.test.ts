import { expect, test } from "bun:test";
import { errorOf, startGateway, upstream } from "../../started-gateway.ts";
import { path, videoGateway, videoRequest } from "./videos-gateway.ts";

test("returns 503 when the model's account is disabled, and releases the reservation", async () => {
  const gateway = await startGateway({
    ...videoGateway,
    providers: (simulator) => [upstream("volc", simulator, { kind: "ark", enabled: false })],
  });
  try {
    expect(await errorOf(await gateway.post(path, videoRequest))).toMatchObject({
      status: 503,
      code: "no_deployment_available",
    });
    expect(gateway.simulator.simulator.truth.list().total).toBe(0);
    expect(gateway.gateway.outstanding()).toBe(0);
  } finally {
    await gateway.stop();
  }
});
