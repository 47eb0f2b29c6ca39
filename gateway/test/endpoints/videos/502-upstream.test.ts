import { expect, test } from "bun:test";
import { errorOf, startGateway } from "../../started-gateway.ts";
import { ask, path, videoGateway } from "./videos-gateway.ts";

const model = "doubao-seedance-2-0-260128";

test("an account whose key is refused is not named to the caller with its key; the video has failed and costs nothing", async () => {
  const gateway = await startGateway(videoGateway);
  try {
    gateway.simulator.simulator.addPreset({ script: { status: 401 }, count: null, model });
    const told = await errorOf(await gateway.post(path, ask));
    expect(told).toMatchObject({ status: 502, code: "upstream_error" });
    expect(told.message).not.toContain("sk-upstream");
    const { data } = (await (await gateway.get(path)).json()) as { data: object[] };
    expect(data).toMatchObject([{ status: "failed", error: { code: expect.any(String) } }]);
    expect(gateway.gateway.outstanding()).toBe(0);
  } finally {
    await gateway.stop();
  }
});

test("what the vendor says of the request reaches the caller in OpenAI's shape, with the vendor's status", async () => {
  const gateway = await startGateway(videoGateway);
  try {
    const script = { status: 400, error_code: "InputTextSensitiveContentDetected", error_message: "Not this text." };
    gateway.simulator.simulator.addPreset({ script, count: 1, model });
    const told = await errorOf(await gateway.post(path, ask));
    expect(told).toMatchObject({ status: 400, code: "InputTextSensitiveContentDetected" });
  } finally {
    await gateway.stop();
  }
});
