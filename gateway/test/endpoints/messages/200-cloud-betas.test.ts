import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";
import { arrived } from "../moved-gateway.ts";
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
const searched = { ...plain, tools: [search, f, { ...f, name: "g", defer_loading: true }] };

async function told(model: string, betas: string, body: object) {
  const headers = { ...version, ...(betas === "" ? {} : { "anthropic-beta": betas }) };
  const sent = JSON.stringify({ model, ...body });
  const answer = await gateway.post("/v1/messages?beta=true", sent, {
    headers,
    script: { keep_received: true, tokens: 1 },
  });
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("message")]);
  const seen = arrived(gateway);
  const { anthropic_beta, anthropic_version: _, ...rest } = JSON.parse(seen.body) as Record<string, unknown>;
  const header = seen.headers["anthropic-beta"] ?? null;
  return { betas: anthropic_beta ?? header, rest, warnings: answer.headers.get("x-sluice-warnings") ?? "" };
}

const toolSearch = "tool-search-tool-2025-10-19";
const examples = "tool-examples-2025-10-29";

describe("the search for tools is told to a cloud by the name that it knows", () => {
  test.each(["", "advanced-tool-use-2025-11-20", toolSearch])("whatever the caller calls it: %j", async (named) => {
    expect(await told("bedrock", named, searched)).toEqual({ betas: [toolSearch], rest: searched, warnings: "" });
    expect(await told("vertex", named, searched)).toEqual({ betas: toolSearch, rest: searched, warnings: "" });
  });

  test("and not told where nothing is searched, since newer models refuse it then", async () => {
    const named = `${toolSearch},effort-2025-11-24,advanced-tool-use-2025-11-20`;
    for (const model of ["bedrock", "vertex"]) {
      const { betas, rest, warnings } = await told(model, named, { ...plain, output_config: { effort: "low" } });
      expect([betas ?? null, rest, warnings]).toEqual([null, { ...plain, output_config: { effort: "low" } }, ""]);
    }
  });
});

test("betas that one cloud takes and the other does not go with their fields, or leave them out with a warning", async () => {
  const body = { ...plain, tools: [{ ...f, input_examples: [{ a: 1 }], eager_input_streaming: true }] };
  const named = "advanced-tool-use-2025-11-20,fine-grained-tool-streaming-2025-05-14";
  const kept = [examples, "fine-grained-tool-streaming-2025-05-14"];
  expect(await told("bedrock", named, body)).toEqual({ betas: kept, rest: body, warnings: "" });
  const vertex = await told("vertex", named, body);
  expect(vertex).toMatchObject({ betas: null, rest: { ...plain, tools: [f] } });
  expect(vertex.warnings).toContain("input_examples of tools are not supported");

  const effort = { ...plain, output_config: { effort: "low" } };
  expect(await told("bedrock-4-5", "", effort)).toEqual({ betas: ["effort-2025-11-24"], rest: effort, warnings: "" });
  const older = await told("vertex-4-5", "effort-2025-11-24", effort);
  expect([older.betas, older.rest]).toEqual([null, { ...plain, output_config: {} }]);
  expect(older.warnings).toContain("effort is not supported");
});

test("what only Anthropic's own API has is left out of the body with its beta, and a warning says so", async () => {
  const kept = { context_management: { edits: [{ type: "clear_tool_uses_20250919" }] } };
  const body = {
    ...plain,
    ...kept,
    mcp_servers: [{ type: "url", url: "https://mcp.example", name: "x" }],
    system: [{ type: "text", text: "s", cache_control: { type: "ephemeral", scope: "global", ttl: "1h" } }],
    tools: [f, { type: "mcp_toolset", mcp_server_name: "x", cache_control: { type: "ephemeral", scope: "global" } }],
    output_config: { task_budget: { type: "tokens", total: 100_000 }, effort: "low" },
  };
  const named = "mcp-client-2025-11-20,prompt-caching-scope-2026-01-05,task-budgets-2026-03-13,claude-code-20250219";
  for (const model of ["bedrock", "vertex"]) {
    const { betas, rest, warnings } = await told(model, named, body);
    expect([betas].flat()).toEqual(["context-management-2025-06-27"]);
    expect(rest).toEqual({
      ...plain,
      ...kept,
      system: [{ type: "text", text: "s", cache_control: { type: "ephemeral", ttl: "1h" } }],
      tools: [f],
      output_config: { effort: "low" },
    });
    for (const what of ["MCP servers", "task_budget", "betas that are not supported by the upstream"]) {
      expect(warnings).toContain(what);
    }
  }
});

test("an operator's list counts in the place of the usual one, for fields too; of a star everything passes", async () => {
  const servers = { mcp_servers: [{ type: "url", url: "https://mcp.example", name: "x" }] };
  const strict = await told("strict", `x-1,${toolSearch},mcp-client-2025-04-04`, { ...searched, ...servers });
  expect(strict.betas).toEqual(["x-1", "mcp-client-2025-04-04"]);
  expect(strict.rest).toEqual({ ...plain, ...servers, tools: [f, { ...f, name: "g" }] });
  expect(strict.warnings).toContain("all tools were sent to the model");
  const open = await told("open", "advanced-tool-use-2025-11-20,of-next-year", { ...searched, ...servers });
  expect(open).toEqual({
    betas: ["advanced-tool-use-2025-11-20", "of-next-year"],
    rest: { ...searched, ...servers },
    warnings: "",
  });
});

test("texts that name such fields are left alone, and a large body is changed in a thread", async () => {
  const text = '{"mcp_servers":[],"defer_loading":true,"scope":"x"} '.repeat(10_000);
  const body = { ...plain, messages: [{ role: "user", content: text }], tools: [{ ...f, input_examples: [{}] }] };
  const { rest, warnings } = await told("vertex", "", body);
  expect(rest).toEqual({ ...body, tools: [f] });
  expect(warnings).toContain("input_examples");
});
