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

const said = '"messages":[{"role":"user","content":"x"}]';
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
  ["chat", `{"model":"granted","MODEL":"up-secret",${said}}`, "MODEL"],
  ["chat", `{"Model":"up-secret","model":"granted",${said}}`, "Model"],
  ["chat", `{"model":"granted","m\\u004fdel":"up-secret",${said}}`, "mOdel"],
  ["chat", `{"model":"granted","Stream":true,${said}}`, "Stream"],
  ["chat", `{"model":"granted","\u017ftream":true,${said}}`, "\u017ftream"],
  ["chat", `{"model":"granted","max_to\u212aens":1,${said}}`, "max_to\u212aens"],
  ["chat", `{"model":"granted","Max_Tokens":1000000,"max_tokens":1,${said}}`, "Max_Tokens"],
  ["chat", `{"model":"granted","N":100,${said}}`, "N"],
  ["chat", `{"model":"granted","stream":true,"stream_options":{"Include_usage":false},${said}}`, "Include_usage"],
  ["chat", `{"MODEL":"granted",${said}}`, "MODEL"],
  ["messages", `{"model":"granted","MODEL":"up-secret","max_tokens":1,${said}}`, "MODEL"],
  ["messages", `{"model":"granted","MAX_TOKENS":9000,"max_tokens":1,${said}}`, "MAX_TOKENS"],
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

test.each(refusals)(
  "%s: another spelling of a member that governs is refused by its name: %s",
  async (where, body, param) => {
    const served = gateway.simulator.simulator.truth.list().total;
    const response = await gateway.post(path[where], body, { headers: { "anthropic-version": "2023-06-01" } });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(`\\"${param}\\"`);
    expect(gateway.simulator.simulator.truth.list().total).toBe(served);
  },
);

test("one parameter of Gemini's in both of its spellings is refused: two readers could take either", async () => {
  const both = [
    '{"contents":[{"parts":[{"text":"x"}]}],"generationConfig":{"maxOutputTokens":1},"generation_config":{"maxOutputTokens":9000}}',
    '{"contents":[{"parts":[{"text":"x"}]}],"generationConfig":{"maxOutputTokens":1,"max_output_tokens":9000}}',
  ];
  for (const body of both) {
    const response = await gateway.post(path.generate, body);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("which is the same parameter");
  }
});

test("a form's field in another spelling is refused by its name", async () => {
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
  "a query that names a model (%s) is refused",
  async (query) => {
    const body = `{"model":"granted","max_tokens":1,${said}}`;
    const response = await gateway.post(`${path.messages}?${query}`, body, {
      headers: { "anthropic-version": "2023-06-01" },
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("not in the query");
  },
);

test("names that only resemble a governed one, and nested ones, go on as they are", async () => {
  const body = `{"model":"granted","models_seen":1,"nn":2,"my_model":"x",${said},"metadata":{"MODEL":"mine","N":"1"}}`;
  const response = await gateway.post(path.chat, body, { script: { tokens: 1 } });
  expect(response.status).toBe(200);
  const sent = gateway.simulator.simulator.truth.list().data.at(-1)?.body_text;
  expect(sent).toBe(body.replace('"granted"', '"up-granted"'));
});
