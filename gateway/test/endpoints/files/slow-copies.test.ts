import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { until } from "../../../../test/until.ts";
import { aliceKey, upstream } from "../../started-gateway.ts";
import { bearer, fileForm, startFilesGateway, strangerKey } from "./files-gateway.ts";

test("slow uploads to a provider leave places for other workspaces", async () => {
  let arrived = 0;
  const slow = Bun.serve({
    idleTimeout: 0,
    port: 0,
    fetch: () => {
      arrived++;
      return new Promise<Response>(() => undefined);
    },
  });
  const gateway = await startFilesGateway({
    providers: (simulator) => [
      upstream("main", simulator, { kind: "openai", base_url: `http://127.0.0.1:${slow.port}/v1` }),
    ],
    models: [{ name: "gpt-test", deployments: [{ provider: "main" }] }],
  });
  const callers = new AbortController();
  const call = async (key: string, text: string): Promise<Response> => {
    const form = fileForm({ purpose: "user_data" }, text, "a.pdf");
    const made = await fetch(`${gateway.url}/v1/files`, { method: "POST", headers: bearer(key), body: form });
    const { id } = (await made.json()) as { id: string };
    const content = [{ type: "file", file: { file_id: id } }];
    return fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { ...bearer(key), "content-type": "application/json" },
      body: JSON.stringify({ model: "gpt-test", messages: [{ role: "user", content }] }),
      signal: callers.signal,
    });
  };
  try {
    for (let n = 0; n < bounds.fileCopiesOfWorkspaceMax; n++) call(aliceKey, `file ${n}`).catch(() => undefined);
    await until(() => arrived === bounds.fileCopiesOfWorkspaceMax);
    expect((await call(aliceKey, "one more")).status).toBe(503);
    call(strangerKey, "of another workspace").catch(() => undefined);
    await until(() => arrived === bounds.fileCopiesOfWorkspaceMax + 1);
  } finally {
    callers.abort();
    await gateway.stop();
    await slow.stop(true);
  }
});
