import { expect, test } from "bun:test";
import { errorOf, startHouse, upstream } from "../../started-house.ts";
import { ask, path, videoHouse } from "./videos-house.ts";

test("a model whose account is switched off makes nothing, and what was set aside is given back", async () => {
  const house = await startHouse({
    ...videoHouse,
    providers: (simulator) => [upstream("volc", simulator, { kind: "ark", enabled: false })],
  });
  try {
    expect(await errorOf(await house.post(path, ask))).toMatchObject({ status: 503, code: "no_deployment_available" });
    expect(house.simulator.simulator.truth.list().total).toBe(0);
    expect(house.house.outstanding()).toBe(0);
  } finally {
    await house.stop();
  }
});
