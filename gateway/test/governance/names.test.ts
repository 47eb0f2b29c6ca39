import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("any", simulator, { kind: "demo" }),
      upstream("films", simulator, { kind: "demo", base_url: `${simulator.url}` }),
    ],
    models: [
      { name: "granted", deployments: [{ provider: "any", upstream_model: "up-granted" }] },
      { name: "paints", type: "image", deployments: [{ provider: "any", upstream_model: "up-paints" }] },
      { name: "films", type: "video", deployments: [{ provider: "films", upstream_model: "up-films" }] },
    ],
  });
});
afterAll(() => gateway.stop());

const messages = '"messages":[{"role":"user","content":"x"}]';
const path = {
  chat: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
  compact: "/v1/responses/compact",
  embeddings: "/v1/embeddings",
  images: "/v1/images/generations",
  edits: "/v1/images/edits",
  generate: "/v1beta/models/granted:generateContent",
  videos: "/v1/video/tasks",
} as const;

const refusals: readonly [where: keyof typeof path, body: string, param: string][] = [
  ["chat", `{"model":"granted","MODEL":"up-secret",${messages}}`, "MODEL"],
  ["chat", `{"Model":"up-secret","model":"granted",${messages}}`, "Model"],
  ["chat", `{"model":"granted","m\\u004fdel":"up-secret",${messages}}`, "mOdel"],
  ["chat", `{"model":"granted","Stream":true,${messages}}`, "Stream"],
  ["chat", `{"model":"granted","\u017ftream":true,${messages}}`, "\u017ftream"],
  ["chat", `{"model":"granted","max_to\u212aens":1,${messages}}`, "max_to\u212aens"],
  ["chat", `{"model":"granted","Max_Tokens":1000000,"max_tokens":1,${messages}}`, "Max_Tokens"],
  ["chat", `{"model":"granted","N":100,${messages}}`, "N"],
  ["chat", `{"model":"granted","stream":true,"stream_options":{"Include_usage":false},${messages}}`, "Include_usage"],
  ["chat", `{"MODEL":"granted",${messages}}`, "MODEL"],
  ["messages", `{"model":"granted","MODEL":"up-secret","max_tokens":1,${messages}}`, "MODEL"],
  ["messages", `{"model":"granted","MAX_TOKENS":9000,"max_tokens":1,${messages}}`, "MAX_TOKENS"],
  ["responses", '{"model":"granted","MODEL":"up-secret","input":"x"}', "MODEL"],
  ["responses", '{"model":"granted","Previous_Response_Id":"resp_1","input":"x"}', "Previous_Response_Id"],
  ["compact", '{"model":"granted","modeL":"up-secret","input":"x"}', "modeL"],
  ["embeddings", '{"model":"granted","MODEL":"up-secret","input":"x"}', "MODEL"],
  ["images", '{"model":"paints","N":10,"prompt":"x"}', "N"],
  ["edits", '{"model":"paints","MODEL":"up-secret","prompt":"x"}', "MODEL"],
  [
    "generate",
    '{"contents":[{"parts":[{"text":"x"}]}],"generationConfig":{"MaxOutputTokens":9000}}',
    "MaxOutputTokens",
  ],
  ["generate", '{"contents":[{"parts":[{"text":"x"}]}],"GenerationConfig":{}}', "GenerationConfig"],
  ["videos", '{"model":"films","prompt":"x","Resolution":"4k"}', "Resolution"],
];

test.each(refusals)("%s: another spelling of a governed member is refused by name: %s", async (where, body, param) => {
  const served = gateway.simulator.simulator.truth.list().total;
  const response = await gateway.post(path[where], body, { headers: { "anthropic-version": "2023-06-01" } });
  expect(response.status).toBe(400);
  expect(await response.text()).toContain(`\\"${param}\\"`);
  expect(gateway.simulator.simulator.truth.list().total).toBe(served);
});

test("rejects a Gemini parameter that is given in both spellings, because readers could choose either", async () => {
  const both = [
    '{"contents":[{"parts":[{"text":"x"}]}],"generationConfig":{"maxOutputTokens":1},"generation_config":{"maxOutputTokens":9000}}',
    '{"contents":[{"parts":[{"text":"x"}]}],"generationConfig":{"maxOutputTokens":1,"max_output_tokens":9000}}',
  ];
  for (const body of both) {
    const response = await gateway.post(path.generate, body);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("both are the same parameter");
  }
});

test("rejects a form field in another spelling by name", async () => {
  const field = (name: string, value: string): string =>
    `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  for (const name of ["MODEL", "Model", "N", "Stream", "MODEL[]"]) {
    const body = `${field("model", "paints")}${field("prompt", "p")}${field(name, "up-secret")}--b--`;
    const headers = { "content-type": "multipart/form-data; boundary=b", authorization: `Bearer ${aliceKey}` };
    const response = await fetch(`${gateway.url}${path.edits}`, { method: "POST", headers, body });
    expect(response.status).toBe(400);
    expect(((await response.json()) as { error: { param: string } }).error.param).toBe(name.replace("[]", ""));
  }
});

test.each(["model=up-secret", "MODEL=up-secret", "%4dodel=up-secret", "beta=true&models=a,b"])(
  "rejects a query that names a model (%s)",
  async (query) => {
    const body = `{"model":"granted","max_tokens":1,${messages}}`;
    const response = await gateway.post(`${path.messages}?${query}`, body, {
      headers: { "anthropic-version": "2023-06-01" },
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("not in the query");
  },
);

test("keeps names that only resemble a governed one, and nested ones", async () => {
  const body = `{"model":"granted","models_seen":1,"nn":2,"my_model":"x",${messages},"metadata":{"MODEL":"mine","N":"1"}}`;
  const response = await gateway.post(path.chat, body, { script: { tokens: 1 } });
  expect(response.status).toBe(200);
  const sent = gateway.simulator.simulator.truth.list().data.at(-1)?.body_text;
  expect(sent).toBe(body.replace('"granted"', '"up-granted"'));
});
