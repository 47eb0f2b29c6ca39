import { expect, test } from "bun:test";
import OpenAI, { toFile } from "openai";
import { aliceKey, startGateway } from "../../started-gateway.ts";
import { sound } from "../transcriptions/endpoint.ts";

test("returns a translation to OpenAI's SDK from the upstream's translations path", async () => {
  const gateway = await startGateway({
    models: [
      { name: "transcriber", type: "transcription", deployments: [{ provider: "main", upstream_model: "whisper-1" }] },
    ],
  });
  try {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: aliceKey, maxRetries: 0 });
    const answer = await client.audio.translations.create({ model: "transcriber", file: await toFile(sound, "a.mp3") });
    expect(answer.text.length).toBeGreaterThan(0);
    expect(gateway.simulator.simulator.truth.list().data.at(-1)?.path).toEndWith("/audio/translations");
    expect((await gateway.entries())[0]).toMatchObject({ endpoint: "translations", usage: { audioSeconds: 2 } });
    const model = await (await gateway.get("/v1/models/transcriber")).json();
    expect(model).toMatchObject({
      type: "transcription",
      endpoints: ["/v1/audio/transcriptions", "/v1/audio/translations"],
    });
  } finally {
    await gateway.stop();
  }
});
