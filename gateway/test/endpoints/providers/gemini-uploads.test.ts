import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { GoogleGenAI } from "@google/genai";
import { aliceKey, type StartedGateway, startGateway } from "../../started-gateway.ts";

const malloryKey = "sk-mallory-0123456789abcdefghij";

interface Received {
  readonly path: string;
  readonly headers: Headers;
  readonly bytes: number;
}

/** Google's upload API. Its answers contain its own address. */
let received: Received[] = [];
let uploads = 0;
const server = Bun.serve({
  idleTimeout: 0,
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const url = new URL(request.url);
    const bytes = (await request.bytes()).length;
    received.push({ path: `${url.pathname}${url.search}`, headers: request.headers, bytes });
    const command = request.headers.get("x-goog-upload-command") ?? "";
    if (!/^\/upload\/v1(?:beta)?\/files$/.test(url.pathname)) {
      return Response.json({ candidates: [{ content: { parts: [{ text: "x" }] }, finishReason: "STOP" }] });
    }
    if (command === "start") {
      const id = `AHmU_${uploads++}`;
      return new Response(null, {
        headers: {
          "x-goog-upload-status": "active",
          "x-goog-upload-chunk-granularity": "262144",
          "x-goog-upload-control-url": "https://generativelanguage.googleapis.com/control",
          "x-goog-upload-url": `https://generativelanguage.googleapis.com${url.pathname}?key=AIzaSecret&upload_id=${id}&upload_protocol=resumable`,
        },
      });
    }
    if (!command.includes("finalize")) return new Response(null, { headers: { "x-goog-upload-status": "active" } });
    const name = `files/${url.searchParams.get("upload_id")?.replace("AHmU_", "n")}`;
    const uri = `https://generativelanguage.googleapis.com/v1beta/${name}`;
    const file = { name, uri, mimeType: "text/plain", sizeBytes: String(bytes), state: "ACTIVE" };
    return Response.json({ file }, { headers: { "x-goog-upload-status": "final" } });
  },
});

let gateway: StartedGateway;
beforeAll(async () => {
  const google = ["google"];
  const workspace = (name: string, secret: string) => ({
    models: ["*"],
    pass_through: google,
    groups: [{ name: "default", pass_through: google }],
    keys: [{ name, secret, pass_through: google }],
  });
  gateway = await startGateway({
    providers: () => [
      {
        id: "google",
        kind: "gemini",
        base_url: `http://127.0.0.1:${server.port}/v1beta`,
        api_key: "sk-upstream",
        allow_private_network: true,
      },
    ],
    models: [{ name: "gem", deployments: [{ provider: "google" }] }],
    workspace: workspace("alice", aliceKey),
    moreWorkspaces: [{ slug: "rival", ...workspace("mallory", malloryKey) }],
  });
});
beforeEach(() => {
  received = [];
});
afterAll(async () => {
  await gateway.stop();
  await server.stop(true);
});

const provider = () => `${gateway.url}/v1/providers/google`;

function beginUpload(key = aliceKey): Promise<Response> {
  return fetch(`${provider()}/upload/v1beta/files`, {
    method: "POST",
    headers: {
      "x-goog-api-key": key,
      "content-type": "application/json",
      "x-goog-upload-protocol": "resumable",
      "x-goog-upload-command": "start",
      "x-goog-upload-header-content-length": "4",
      "x-goog-upload-header-content-type": "text/plain",
    },
    body: JSON.stringify({ file: { displayName: "notes", name: "files/my-own-name" } }),
  });
}

async function finish(url: string, key = aliceKey): Promise<Response> {
  const headers = {
    "x-goog-api-key": key,
    "x-goog-upload-offset": "0",
    "x-goog-upload-command": "upload, finalize",
    // Google's SDK sends this type with every upload.
    "content-type": "application/json",
  };
  return await fetch(url, { method: "POST", headers, body: "four" });
}

async function generate(uri: string, key: string): Promise<number> {
  const contents = [{ role: "user", parts: [{ fileData: { fileUri: uri, mimeType: "text/plain" } }] }];
  const answer = await gateway.post("/v1beta/models/gem:generateContent", { contents }, { key });
  await answer.text();
  return answer.status;
}

test("uploads a file through the gateway, and the file belongs to its workspace", async () => {
  const started = await beginUpload();
  expect(started.status).toBe(200);
  const url = started.headers.get("x-goog-upload-url") ?? "";
  expect(url).toBe(`${provider()}/upload/v1beta/files?upload_id=AHmU_0&upload_protocol=resumable`);
  expect(started.headers.get("x-goog-upload-status")).toBe("active");
  expect(started.headers.has("x-goog-upload-control-url")).toBe(false);
  const finished = await finish(url);
  expect(finished.headers.get("x-goog-upload-status")).toBe("final");
  const { file } = (await finished.json()) as { file: { uri: string } };
  expect(received[0]?.path).toBe("/upload/v1beta/files");
  expect(received[0]?.headers.get("x-goog-upload-header-content-type")).toBe("text/plain");
  expect(received[1]).toMatchObject({
    path: "/upload/v1beta/files?upload_id=AHmU_0&upload_protocol=resumable",
    bytes: 4,
  });
  expect(received.every(({ headers }) => headers.get("x-goog-api-key") === "sk-upstream")).toBe(true);
  expect(await generate(file.uri, aliceKey)).toBe(200);
  expect(await generate(file.uri, malloryKey)).toBe(404);
});

test("returns 404 when another workspace continues an upload", async () => {
  const url = (await beginUpload()).headers.get("x-goog-upload-url") ?? "";
  expect((await finish(url, malloryKey)).status).toBe(404);
  expect(received.length).toBe(1);
  expect((await finish(url)).status).toBe(200);
});

test("lets Google's SDK upload a file in pieces and call a model with it", async () => {
  const ai = new GoogleGenAI({ apiKey: aliceKey, httpOptions: { baseUrl: provider() } });
  const size = 8 * 1024 * 1024 + 5;
  const file = await ai.files.upload({
    file: new Blob([new Uint8Array(size)], { type: "text/plain" }),
    config: { mimeType: "text/plain" },
  });
  expect(received.map(({ bytes }) => bytes).slice(1)).toEqual([size - 5, 5]);
  expect(String(file.state)).toBe("ACTIVE");
  expect(await generate(file.uri ?? "", aliceKey)).toBe(200);
  expect(await generate(file.uri ?? "", malloryKey)).toBe(404);
});
