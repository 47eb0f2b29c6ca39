import { expect, test } from "bun:test";
import { errorOf, startGateway } from "../../started-gateway.ts";
import { path, videoGateway, videoRequest } from "./videos-gateway.ts";

const model = "doubao-seedance-2-0-260128";

test("fails a video at no cost when the vendor rejects the account's key, which the error does not repeat", async () => {
  const gateway = await startGateway(videoGateway);
  try {
    gateway.simulator.simulator.addPreset({ script: { status: 401 }, count: null, model });
    const error = await errorOf(await gateway.post(path, videoRequest));
    expect(error).toMatchObject({ status: 502, code: "upstream_error" });
    expect(error.message).not.toContain("sk-upstream");
    const { data } = (await (await gateway.get(path)).json()) as { data: object[] };
    expect(data).toMatchObject([{ status: "failed", error: { code: expect.any(String) } }]);
    expect(gateway.gateway.outstanding()).toBe(0);
  } finally {
    await gateway.stop();
  }
});

test("returns the vendor's error and status in OpenAI's shape", async () => {
  const gateway = await startGateway(videoGateway);
  try {
    const script = { status: 400, error_code: "InputTextSensitiveContentDetected", error_message: "Not this text." };
    gateway.simulator.simulator.addPreset({ script, count: 1, model });
    const error = await errorOf(await gateway.post(path, videoRequest));
    expect(error).toMatchObject({ status: 400, code: "InputTextSensitiveContentDetected" });
  } finally {
    await gateway.stop();
  }
});
