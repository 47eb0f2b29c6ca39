import { expect, test } from "bun:test";
import { errorOf, hello, startGateway, upstream } from "../../started-gateway.ts";

test("returns 503 when all deployments of the model are disabled", async () => {
  const gateway = await startGateway({
    providers: (simulator) => [upstream("main", simulator, { enabled: false })],
    models: [{ name: "gpt-test", deployments: [{ provider: "main" }] }],
  });
  try {
    expect(await errorOf(await gateway.chat(hello))).toMatchObject({ status: 503, code: "no_deployment_available" });
  } finally {
    await gateway.stop();
  }
});

test("finishes live streams and accepts no new connections while draining", async () => {
  const gateway = await startGateway({ settings: { drain_timeout_ms: 60_000 } });
  const live = await gateway.chat({ ...hello, stream: true }, { script: { tokens: 20, event_ms: 30 } });
  const reading = live.text();
  const closing = gateway.gateway.close();
  await expect(gateway.get("/readyz")).rejects.toThrow();
  await expect(gateway.chat(hello)).rejects.toThrow();
  expect(await reading).toEndWith("data: [DONE]\n\n");
  await closing;
  await gateway.stop();
});

test("ends a stream with an error event when the drain timeout passes", async () => {
  const gateway = await startGateway({ settings: { drain_timeout_ms: 200 } });
  const live = await gateway.chat({ ...hello, stream: true }, { script: { tokens: 500, event_ms: 50 } });
  const reading = live.text();
  await gateway.gateway.close();
  const text = await reading;
  expect(text).toContain('"code":"draining"');
  expect(text).not.toContain("[DONE]");
  await gateway.stop();
});
