import { expect } from "bun:test";
import type { ConfigFile } from "@sluice/contract";
import { type AgentAnswer, ofType } from "./matrix/agent-call.ts";
import { matrixConfig } from "./matrix/upstreams.ts";
import { keys, model as modelEntry } from "./test-config.ts";

/** The configuration of the matrix, plus one model on two accounts that can each decrypt only their own content. */
export function codexConfig(simulatorUrl: string): ConfigFile {
  const matrix = matrixConfig(simulatorUrl, ["limited", "long", "cut"]);
  const account = (id: string) => ({
    id,
    kind: "openai",
    base_url: simulatorUrl,
    api_key: `sk-account-of-${id}-0000000001`,
    allow_private_network: true,
  });
  const accounts = ["one", "two"].map((provider) => ({ provider, upstream_model: `gpt-sim-of-${provider}` }));
  return {
    ...matrix,
    providers: [...(matrix.providers ?? []), account("one"), account("two")],
    models: [...(matrix.models ?? []), modelEntry("two/accounts", accounts)],
  };
}

export const headers = {
  authorization: `Bearer ${keys.main}`,
  accept: "text/event-stream",
  originator: "codex_cli_rs",
  version: "0.147.0",
  "user-agent": "codex_cli_rs/0.147.0 (Debian 13.0.0; x86_64) xterm-256color",
  session_id: "0199a213-0000-7000-8000-000000000001",
  conversation_id: "0199a213-0000-7000-8000-000000000001",
  "openai-beta": "responses=experimental",
  "x-codex-turn-state": "state-of-the-turn",
  "x-codex-turn-metadata": '{"turn_id":"t-1"}',
};

const shell = {
  type: "function",
  name: "shell_command",
  description: "Runs a shell command and returns its output.",
  strict: false,
  parameters: {
    type: "object",
    properties: { command: { type: "string" }, timeout_ms: { type: "number" } },
    required: ["command"],
    additionalProperties: false,
  },
};
const applyPatch = {
  type: "custom",
  name: "apply_patch",
  description: "Edits files.",
  format: { type: "grammar", syntax: "lark", definition: "start: begin_patch hunk+ end_patch" },
};
const namespace = {
  type: "namespace",
  name: "mcp__docs",
  description: "Tools of the docs server.",
  tools: [
    {
      type: "function",
      name: "search_docs",
      description: "Searches.",
      strict: false,
      parameters: { type: "object", properties: {} },
    },
  ],
};
export const toolSearch = {
  type: "tool_search",
  execution: "client",
  description: "Searches over deferred tools and exposes those that match.",
  parameters: {
    type: "object",
    properties: { query: { type: "string" }, limit: { type: "number" } },
    required: ["query"],
    additionalProperties: false,
  },
};
export const calendar = (description: string): object => ({
  type: "namespace",
  name: "mcp__calendar",
  description: "Tools of the calendar.",
  tools: [
    {
      type: "function",
      name: "create_event",
      description,
      strict: false,
      defer_loading: true,
      parameters: { type: "object", properties: { title: { type: "string" } } },
    },
  ],
});
export const tools = [shell, applyPatch, namespace, { type: "web_search", external_web_access: true }];

export function turn(model: string, input: readonly object[], more: object = {}): object {
  return {
    model,
    instructions: "You are Codex, a coding agent.",
    input: [
      {
        type: "message",
        role: "developer",
        content: [{ type: "input_text", text: "<permissions>none</permissions>" }],
      },
      { type: "message", role: "user", content: [{ type: "input_text", text: "<environment_context/>" }] },
      ...input,
    ],
    tools,
    tool_choice: "auto",
    parallel_tool_calls: true,
    reasoning: { effort: "medium", summary: "auto" },
    store: false,
    stream: true,
    include: ["reasoning.encrypted_content"],
    prompt_cache_key: "0199a213-0000-7000-8000-000000000001",
    text: { verbosity: "medium" },
    client_metadata: { "x-codex-installation-id": "installation-1" },
    ...more,
  };
}

export function userMessage(text: string, script: object = {}): object {
  const scriptedText = `${text} [[sim ${JSON.stringify({ reasoning_field: "reasoning_content", ...script })}]]`;
  return { type: "message", role: "user", content: [{ type: "input_text", text: scriptedText }] };
}

export type Item = Readonly<Record<string, unknown>>;

/** The finished items of a stream, as Codex reads them; checks that the response was completed. */
export function itemsOf(answer: AgentAnswer): readonly Item[] {
  expect(answer.status, answer.text).toBe(200);
  expect(answer.events[0]?.type).toBe("response.created");
  expect(answer.events.at(-1)?.type, answer.text.slice(-2_000)).toBe("response.completed");
  expect(answer.events.map((event) => event["sequence_number"])).toEqual([...answer.events.keys()]);
  const items = ofType(answer, "response.output_item.done").map((event) => event["item"] as Item);
  expect(answer.events.at(-1)?.["response"]).toMatchObject({ status: "completed", output: [...items] });
  return items;
}
