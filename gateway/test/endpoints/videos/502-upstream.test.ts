import { expect, test } from "bun:test";
import { errorOf, startHouse } from "../../started-house.ts";
import { ask, path, videoHouse } from "./videos-house.ts";

const model = "doubao-seedance-2-0-260128";

test("an account whose key is refused is not named to the caller with its key; the video has failed and costs nothing", async () => {
  const house = await startHouse(videoHouse);
  try {
    house.simulator.simulator.addPreset({ script: { status: 401 }, count: null, model });
    const told = await errorOf(await house.post(path, ask));
    expect(told).toMatchObject({ status: 502, code: "upstream_error" });
    expect(told.message).not.toContain("sk-upstream");
    const { data } = (await (await house.get(path)).json()) as { data: object[] };
    expect(data).toMatchObject([{ status: "failed", error: { code: expect.any(String) } }]);
    expect(house.house.outstanding()).toBe(0);
  } finally {
    await house.stop();
  }
});

test("what the vendor says of the request reaches the caller in OpenAI's shape, with the vendor's status", async () => {
  const house = await startHouse(videoHouse);
  try {
    const script = { status: 400, error_code: "InputTextSensitiveContentDetected", error_message: "Not this text." };
    house.simulator.simulator.addPreset({ script, count: 1, model });
    const told = await errorOf(await house.post(path, ask));
    expect(told).toMatchObject({ status: 400, code: "InputTextSensitiveContentDetected" });
  } finally {
    await house.stop();
  }
});
