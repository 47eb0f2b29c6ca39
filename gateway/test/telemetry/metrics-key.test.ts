import { expect, test } from "bun:test";
import { Secret } from "#core/index.ts";
import { aliceKey, errorOf, startGateway } from "../started-gateway.ts";

test("with SLUICE_METRICS_KEY metrics require that key, and health does not", async () => {
  const gateway = await startGateway({ environment: { metricsKey: new Secret("scrape-0123456789") } });
  try {
    const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
    for (const headers of [{}, bearer(aliceKey), bearer("scrape-012345678"), { authorization: "scrape-0123456789" }]) {
      expect(await errorOf(await gateway.get("/metrics", headers))).toMatchObject({
        status: 401,
        code: "invalid_api_key",
      });
    }
    const answer = await gateway.get("/metrics", bearer("scrape-0123456789"));
    expect([answer.status, answer.headers.get("x-content-type-options")]).toEqual([200, "nosniff"]);
    expect(await answer.text()).toContain("sluice_build_info");
    // Schemes are case-insensitive (RFC 9110, 11.1).
    expect((await gateway.get("/metrics", { authorization: "bearer scrape-0123456789" })).status).toBe(200);
    expect((await gateway.get("/readyz", {})).status).toBe(200);
  } finally {
    await gateway.stop();
  }
});
