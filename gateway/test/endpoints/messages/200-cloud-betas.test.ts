import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";
import { lastUpstream } from "../mixed-vendor-gateway.ts";
import { version } from "./claude-gateway.ts";

const region = { region: "us-east-1" };
const project = { project: "p", location: "us-east5" };

let gateway: StartedGateway;
beforeAll(async () => {
  const model = (name: string, provider: string, upstream_model: string) => ({
    name,
    deployments: [{ provider, upstream_model }],
    price: { input: 1, output: 10 },
  });
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("aws", simulator, { kind: "bedrock", settings: region }),
      upstream("strict-aws", simulator, {
        kind: "bedrock",
        settings: { ...region, betas: ["x-1", "mcp-client-2025-04-04"] },
      }),
      upstream("open-aws", simulator, { kind: "bedrock", settings: { ...region, betas: ["*"] } }),
      upstream("google", simulator, { kind: "vertex", settings: project }),
    ],
    models: [
      model("bedrock", "aws", "us.anthropic.claude-sonnet-4-6"),
      model("bedrock-4-5", "aws", "us.anthropic.claude-opus-4-5-20251101-v1:0"),
      model("strict", "strict-aws", "us.anthropic.claude-sonnet-4-6"),
      model("open", "open-aws", "us.anthropic.claude-sonnet-4-6"),
      model("vertex", "google", "claude-sonnet-4-6"),
      model("vertex-4-5", "google", "claude-opus-4-5"),
    ],
  });
});
afterAll(() => gateway.stop());

const plain = { max_tokens: 50, messages: [{ role: "user", content: "hi" }] };
const f = { name: "f", input_schema: { type: "object", properties: {} } };
const search = { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" };
const withToolSearch = { ...plain, tools: [search, f, { ...f, name: "g", defer_loading: true }] };

async function receivedBy(model: string, betas: string, body: object) {
  const headers = { ...version, ...(betas === "" ? {} : { "anthropic-beta": betas }) };
  const sent = JSON.stringify({ model, ...body });
  const answer = await gateway.post("/v1/messages?beta=true", sent, {
    headers,
    script: { keep_received: true, tokens: 1 },
  });
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("message")]);
  const received = lastUpstream(gateway);
  const { anthropic_beta, anthropic_version: _, ...rest } = JSON.parse(received.body) as Record<string, unknown>;
  const header = received.headers["anthropic-beta"] ?? null;
  return { betas: anthropic_beta ?? header, rest, warnings: answer.headers.get("x-sluice-warnings") ?? "" };
}

const toolSearch = "tool-search-tool-2025-10-19";
const examples = "tool-examples-2025-10-29";

describe("the beta for tool search", () => {
  test.each(["", "advanced-tool-use-2025-11-20", toolSearch])(
    "is sent to a cloud under the cloud's name: %j",
    async (named) => {
      expect(await receivedBy("bedrock", named, withToolSearch)).toEqual({
        betas: [toolSearch],
        rest: withToolSearch,
        warnings: "",
      });
      expect(await receivedBy("vertex", named, withToolSearch)).toEqual({
        betas: toolSearch,
        rest: withToolSearch,
        warnings: "",
      });
    },
  );

  test("is not sent without a tool search, because newer models reject it then", async () => {
    const named = `${toolSearch},effort-2025-11-24,advanced-tool-use-2025-11-20`;
    for (const model of ["bedrock", "vertex"]) {
      const { betas, rest, warnings } = await receivedBy(model, named, { ...plain, output_config: { effort: "low" } });
      expect([betas ?? null, rest, warnings]).toEqual([null, { ...plain, output_config: { effort: "low" } }, ""]);
    }
  });
});

test("keeps the fields of betas that a cloud accepts, and removes others with a warning", async () => {
  const body = { ...plain, tools: [{ ...f, input_examples: [{ a: 1 }], eager_input_streaming: true }] };
  const named = "advanced-tool-use-2025-11-20,fine-grained-tool-streaming-2025-05-14";
  const supported = [examples, "fine-grained-tool-streaming-2025-05-14"];
  expect(await receivedBy("bedrock", named, body)).toEqual({ betas: supported, rest: body, warnings: "" });
  const vertex = await receivedBy("vertex", named, body);
  expect(vertex).toMatchObject({ betas: null, rest: { ...plain, tools: [f] } });
  expect(vertex.warnings).toContain("input_examples of tools are not supported");

  const effort = { ...plain, output_config: { effort: "low" } };
  expect(await receivedBy("bedrock-4-5", "", effort)).toEqual({
    betas: ["effort-2025-11-24"],
    rest: effort,
    warnings: "",
  });
  const older = await receivedBy("vertex-4-5", "effort-2025-11-24", effort);
  expect([older.betas, older.rest]).toEqual([null, { ...plain, output_config: {} }]);
  expect(older.warnings).toContain("effort is not supported");
});

test("removes fields and betas that only Anthropic's API supports, with a warning", async () => {
  const supported = { context_management: { edits: [{ type: "clear_tool_uses_20250919" }] } };
  const body = {
    ...plain,
    ...supported,
    mcp_servers: [{ type: "url", url: "https://mcp.example", name: "x" }],
    system: [{ type: "text", text: "s", cache_control: { type: "ephemeral", scope: "global", ttl: "1h" } }],
    tools: [f, { type: "mcp_toolset", mcp_server_name: "x", cache_control: { type: "ephemeral", scope: "global" } }],
    output_config: { task_budget: { type: "tokens", total: 100_000 }, effort: "low" },
  };
  const named = "mcp-client-2025-11-20,prompt-caching-scope-2026-01-05,task-budgets-2026-03-13,claude-code-20250219";
  for (const model of ["bedrock", "vertex"]) {
    const { betas, rest, warnings } = await receivedBy(model, named, body);
    expect([betas].flat()).toEqual(["context-management-2025-06-27"]);
    expect(rest).toEqual({
      ...plain,
      ...supported,
      system: [{ type: "text", text: "s", cache_control: { type: "ephemeral", ttl: "1h" } }],
      tools: [f],
      output_config: { effort: "low" },
    });
    for (const what of ["MCP servers", "task_budget", "betas that are not supported by the upstream"]) {
      expect(warnings).toContain(what);
    }
  }
});

test("uses the operator's list of betas instead of the default, and passes everything for a star", async () => {
  const servers = { mcp_servers: [{ type: "url", url: "https://mcp.example", name: "x" }] };
  const strict = await receivedBy("strict", `x-1,${toolSearch},mcp-client-2025-04-04`, {
    ...withToolSearch,
    ...servers,
  });
  expect(strict.betas).toEqual(["x-1", "mcp-client-2025-04-04"]);
  expect(strict.rest).toEqual({ ...plain, ...servers, tools: [f, { ...f, name: "g" }] });
  expect(strict.warnings).toContain("all tools were sent to the model");
  const open = await receivedBy("open", "advanced-tool-use-2025-11-20,of-next-year", { ...withToolSearch, ...servers });
  expect(open).toEqual({
    betas: ["advanced-tool-use-2025-11-20", "of-next-year"],
    rest: { ...withToolSearch, ...servers },
    warnings: "",
  });
});

test("ignores texts that contain such field names, and changes large bodies in a worker thread", async () => {
  const text = '{"mcp_servers":[],"defer_loading":true,"scope":"x"} '.repeat(10_000);
  const body = { ...plain, messages: [{ role: "user", content: text }], tools: [{ ...f, input_examples: [{}] }] };
  const { rest, warnings } = await receivedBy("vertex", "", body);
  expect(rest).toEqual({ ...body, tools: [f] });
  expect(warnings).toContain("input_examples");
});
